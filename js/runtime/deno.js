// Deno compiles the engine as a module, without permissions.

import { __wbg_reset_state, Engine, Expression, initSync } from '../../pkg/engine.js'
import source wasm from '../../pkg/engine.wasm'

initSync({ module: wasm })

export { __wbg_reset_state as reset, Engine, Expression }
