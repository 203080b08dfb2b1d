// For bundlers that leave the wasm file behind: the engine is part of the code.

import text from '../../pkg/engine.base64.js'
import init, { __wbg_reset_state, Engine, Expression } from '../../pkg/engine.js'

await init({ module_or_path: Uint8Array.from(atob(text), (byte) => byte.charCodeAt(0)) })

export { __wbg_reset_state as reset, Engine, Expression }
