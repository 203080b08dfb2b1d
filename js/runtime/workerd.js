// workerd compiles the engine with the Worker.

import { __wbg_reset_state, Engine, Expression, initSync } from '../../pkg/engine.js'
import wasm from '../../pkg/engine.wasm'

initSync({ module: wasm })

export { __wbg_reset_state as reset, Engine, Expression }
