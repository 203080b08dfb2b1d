// What every user of the package needs, whatever the database.

export { MillstreamError } from './error.js'
export { Millstream } from './millstream.js'
