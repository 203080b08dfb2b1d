// Node reads the engine from its own folder.

import { readFileSync } from 'node:fs'
import { __wbg_reset_state, Engine, Expression, initSync } from '../../pkg/engine.js'

initSync({ module: readFileSync(new URL('../../pkg/engine.wasm', import.meta.url)) })

export { __wbg_reset_state as reset, Engine, Expression }
