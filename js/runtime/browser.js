// Browsers fetch the engine from beside its glue.

import init, { __wbg_reset_state, Engine, Expression } from '../../pkg/engine.js'

await init({ module_or_path: new URL('../../pkg/engine.wasm', import.meta.url) })

export { __wbg_reset_state as reset, Engine, Expression }
