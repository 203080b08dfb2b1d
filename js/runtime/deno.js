// Deno compiles the engine as a module, without permissions.

import source wasm from '../../pkg/engine.wasm'
import { __wbg_reset_state, Engine, initSync } from '../../pkg/engine.js'

initSync({ module: wasm })

export { __wbg_reset_state as reset, Engine }
