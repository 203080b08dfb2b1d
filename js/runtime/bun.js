// Bun gives the engine's path, also within a compiled program.

import { readFileSync } from 'node:fs'
import { __wbg_reset_state, Engine, Expression, initSync } from '../../pkg/engine.js'
import path from '../../pkg/engine.wasm' with { type: 'file' }

initSync({ module: readFileSync(path) })

export { __wbg_reset_state as reset, Engine, Expression }
