// `npm run bench`: what Millstream costs, beside what others do for the same work. Writes bench/results.md.

import { writeFile } from 'node:fs/promises'
import { cpus } from 'node:os'
import { capture } from './capture.js'
import { engine } from './engine.js'
import { expr } from './expr.js'
import { latency } from './latency.js'
import { size } from './size.js'
import { sockets } from './sockets.js'
import { streams } from './streams.js'

const suites = { capture, engine, expr, latency, streams, sockets, size }
const chosen = process.argv.slice(2)
const lines = [
  '# Benchmarks',
  '',
  `Node ${process.version}, ${cpus().length} × ${cpus()[0]?.model ?? 'unknown processor'}, ` +
    `${process.platform}. Medians of interleaved rounds.`,
  '',
  '| what | figure |',
  '|---|---|',
]

for (const [name, suite] of Object.entries(suites)) {
  if (chosen.length > 0 && !chosen.includes(name)) continue
  console.log(`${name} …`)
  for (const [what, figure] of await suite()) {
    console.log(`  ${what}: ${figure}`)
    lines.push(`| ${what} | ${figure} |`)
  }
}
if (chosen.length === 0) {
  await writeFile(new URL('results.md', import.meta.url), `${lines.join('\n')}\n`)
}
