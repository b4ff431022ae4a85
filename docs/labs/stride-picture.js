/* The picture of the stride lab: the memory of x, that of y where it is a copy, the steps that y takes in it, and y. */

const StridePicture = (() => {
const { LETTER, arrow, cell, rectangle, said, shape, toned } = Labs
const HIGH = 26, LEAST = 24 // height of a cell, and its least width
const LANE = 26 // height of a step
const MOST = 64 // elements

/* The cells of a memory, in rows that end where a row of x does; `below` is the room that each row has under it. */
const strip = (memory, last, top, width, below, look) => {
  const most = Math.floor((width - 2) / LEAST)
  const per = memory.length <= most ? memory.length : most < last ? most : most - (most % last)
  const side = Math.min(44, Math.floor((width - 2) / per))
  const pitch = HIGH + 18 + below
  const places = memory.map((_, i) => [1 + (i % per) * side, top + 18 + Math.floor(i / per) * pitch, side])
  const shapes = memory.map((value, i) => cell(...places[i], value, { index: i, ...look(value, i) }))
  return { places, shapes, per, low: places.at(-1)[1] + HIGH, wraps: memory.length > per }
}

/* The elements of y: planes of rows and columns, side by side. */
const grid = (size, elements, top, width, value, look) => {
  const [rows, columns] = [size.at(-2) ?? 1, size.at(-1) ?? 1], left = size.length > 1 ? 22 : 1, room = width - left
  const side = Math.max(LEAST, Math.min(34, Math.floor(room / columns)))
  const per = Math.min(columns, Math.floor(room / side)), above = 18 * (size.length > 2) + 18
  const lines = Math.ceil(columns / per), wide = left + per * side + 16, high = rows * lines * HIGH + 44
  const beside = Math.max(1, Math.floor((width + 16) / wide)), shapes = []
  const places = elements.map((at, k) => {
    const [plane, row, column] = [Math.floor(k / rows / columns), Math.floor(k / columns) % rows, k % columns]
    const x = (plane % beside) * wide + left + (column % per) * side
    const y = top + Math.floor(plane / beside) * high + above + (row * lines + Math.floor(column / per)) * HIGH
    if (column === 0 && size.length > 1) shapes.push(said(x - 6, y + 18, row, "it-index", "end"))
    if (row + column === 0 && size.length > 2) shapes.push(said(x, y - 22, `y[${at.slice(0, -2).join(", ")}]`))
    const index = row === 0 && column < per && size.length ? column : ""
    shapes.push(cell(x, y, side, value(k), { ...look(k), index }))
    return [x, y, side]
  })
  return { places, shapes, low: Math.max(top, ...places.map(([, y]) => y + HIGH)) }
}

const handle = (x, y, text) => [
  shape("circle", { cx: x, cy: y, r: 9, class: "it-pill" }),
  said(x, y + 4.5, text, "it-value", "middle"),
]
const upward = (x, from, to) =>
  shape("path", { class: "it-edge", d: `M${x} ${from}V${to}M${x - 4} ${to + 6}L${x} ${to}L${x + 4} ${to + 6}` })

/* The first step of each dimension, from the cell at the offset, each on a line of its own; the shortest is nearest. */
const lanes = (moves, { places, low }, top, width) => {
  const across = (to) => places[to][0] + places[to][2] / 2, start = across(moves[0].to)
  const room = LETTER * Math.max(...moves.map(({ text }) => text.length))
  const end = Math.max(...moves.map(({ to }) => across(to))) + 16
  const besides = start - 16 > room ? [start - 16, "end"] : [width - 1, "end"]
  const [words, anchor] = end + room < width ? [end, "start"] : besides
  const lines = [], shown = moves.map((move, i) => {
    const x = across(move.to), y = top + 16 + i * LANE
    if (i) lines.push(shape("path", { class: "it-edge", d: `M${start} ${top + 16}V${y}H${x}` }))
    if (!i || x > start) lines.push(upward(x, y, low + 3))
    return { ...move, x, y }
  })
  const texts = shown.map(({ y, text }) => said(words, y + 4.5, text, "it-value", anchor))
  const handles = shown.map(({ x, y, mark }) => handle(x, y, mark))
  return { shapes: [lines, texts, handles], moves: shown, low: top + 16 + moves.length * LANE - 12 }
}

/* Texts in as many lines as they need, each with room for a mark before it. */
const legend = (texts, top, width) => {
  let x = 1, y = top
  const places = texts.map((text) => {
    const wide = 26 + text.length * LETTER, at = x > 1 && x + wide > width ? [1, y += 24] : [x, y]
    x = at[0] + wide + 16
    return at
  })
  return { places, shapes: places.map(([x, y], i) => said(x + 26, y, texts[i])), low: y + 12 }
}

/* The same where the memory has several rows: marks under the cells, and what they mean below. */
const marks = (moves, { places }, top, below, width) => {
  const shown = moves.map((move, i) => {
    const [left, top, side] = places[move.to], twins = moves.slice(0, i).filter(({ to }) => to === move.to).length
    return { ...move, x: Math.max(10, left + side / 2) + twins * 19, y: top + HIGH + below - 12 }
  })
  const { places: at, shapes, low } = legend(moves.map(({ text }) => text), top + 16, width)
  const signs = moves.map(({ mark }, i) => said(at[i][0] + 6, at[i][1], mark, "it-name"))
  return { shapes: [shown.map((one) => handle(one.x, one.y, one.mark)), signs, shapes], moves: shown, low: low - 6 }
}

/* The sizes, with handles. */
const sizes = ({ size }, top, width) => {
  const { places, shapes, low } = legend(size.map((n, d) => `size(${d}) = ${n}`), top, width)
  const moves = size.map((now, d) => {
    return { name: `size(${d})`, part: "size", d, now, x: places[d][0] + 10, y: places[d][1] - 4.5 }
  })
  return { shapes: [shapes, moves.map(({ x, y }) => handle(x, y, "↔"))], moves, low }
}

/* What the tones say: the row of x that a number comes from. */
const rows = (count, names, top, width) => {
  const of = (tone) => Array.from({ length: count }, (_, i) => i).filter((i) => i % 3 === tone)
  const texts = [0, 1, 2].slice(0, count).map((tone) => of(tone).map(names).join(", "))
  const { places, shapes, low } = legend(texts, top, width)
  const marks = places.map(([x, y], i) => toned(i + 1, rectangle(x, y - 14, 18, 18, "it-element", 6)))
  return { shapes: [marks, shapes], low }
}

const drawn = ({ x, y, elements, read, at, blind, guess, cursor, lines }, width) => {
  const copied = y.memory !== x.memory, last = x.size.at(-1), single = (memory) => memory.length * LEAST + 2 <= width
  const lead = x.size.slice(0, -1).findIndex((n) => n > 1) // the first dimension that has rows to tell apart
  const row = lead < 0 ? x.memory.length : Strides.product(x.size.slice(lead + 1))
  const tone = (value) => (Math.floor(value / row) % 3) + 1
  const times = (i) => read.filter((one) => one === i).length, shared = !blind && new Set(read).size < read.length
  const below = 16 * shared + (blind || single(y.memory) ? 0 : 26)
  const look = (value, i) => {
    const ring = !blind && i === read[at] ? "it-pill" : i === guess || i === cursor ? "it-pill it-dashed" : ""
    return { ring, tone: !blind && times(i) ? tone(value) : 0 }
  }
  const whole = (value) => ({ tone: tone(value) })
  const above = strip(x.memory, last, 20, width, copied ? 0 : below, copied ? whole : look)
  const shapes = [said(1, 14, "memory of x", "it-name"), above.shapes]
  let own = above
  if (copied) {
    const apart = single(x.memory) && !blind
    const shown = y.memory.map((value) => (blind ? "" : value)), top = above.low + (apart ? 44 : 12)
    own = strip(shown, last, top, width, below, (_, i) => look(y.memory[i], i))
    const ends = x.memory.slice(0, row).map((value) => y.memory.indexOf(value))
    const across = (places, i) => places[i][0] + places[i][2] / 2
    if (apart && ends.every((one, i) => one >= 0 && (!i || one > ends[i - 1]))) {
      const to = (end) => [across(own.places, end), own.places[end][1] - 18]
      shapes.push(toned(1, ...ends.map((end, i) => arrow([across(above.places, i), above.low + 2], to(end)))))
    }
    shapes.push(own.shapes)
  }
  if (shared) {
    own.places.forEach(([left, top, side], i) => {
      if (times(i) > 1) shapes.push(said(left + side / 2, top + HIGH + 14, `×${times(i)}`, "it-note", "middle"))
    })
  }
  let low = own.low + below, moves = []
  if (copied) { // at the right, where no steps are
    const right = Math.max(...own.places.map(([left, , side]) => left + side))
    shapes.push(said(right, own.low + 17 + below, "memory of y", "it-name", "end"))
    low += 20
  }
  const taken = y.size.map((_, d) => d).filter((d) => y.size[d] > 1).sort((a, b) => y.stride[a] - y.stride[b])
  if (!blind && elements.length) {
    moves = [{ name: "offset", part: "offset", to: y.offset, now: y.offset, mark: "o", text: `offset ${y.offset}` }]
    for (const d of taken) {
      const now = y.stride[d], name = `stride(${d})`
      moves.push({ name, part: "stride", d, to: y.offset + now, now, mark: d, text: `${name} = ${now}` })
    }
    const from = { ...own, low: own.low + below }
    const drawn = own.wraps ? marks(moves, own, low, below, width) : lanes(moves, from, low, width)
    shapes.push(drawn.shapes)
    ;({ moves, low } = drawn)
  }
  const fit = Math.floor((width - 2) / LETTER)
  lines = lines.flatMap((text) => text.match(new RegExp(`.{1,${fit}}(?= |$)`, "g")))
  lines.forEach((text, i) => shapes.push(said(1, low + 26 + 18 * i, text, i ? "it-value" : "it-name")))
  low += 18 + 18 * lines.length
  if (!blind && y.size.length) {
    const more = sizes(y, low + 14, width)
    shapes.push(more.shapes)
    moves.push(...more.moves)
    ;({ low } = more)
  }
  const value = (k) => (blind ? (k === at ? "?" : "") : y.memory[read[k]])
  const seen = (k) => ({ ring: k === at ? "it-pill" : "", tone: blind ? 0 : tone(value(k)) })
  const made = grid(y.size, elements, low, width, value, seen)
  const named = (i) => (lead < 0 ? "x" : `x[${"0, ".repeat(lead)}${i}]`)
  const key = rows(lead < 0 ? 1 : x.size[lead], named, made.low + 30, width)
  shapes.push(made.shapes, key.shapes)
  return { shapes, height: key.low, cells: own.places, elements: made.places, moves, per: own.per, wraps: own.wraps }
}

/* The place that is nearest to a point, and the box around all places. */
const nearest = (places, x, y) => {
  const far = places.map(([left, top, side]) => Math.hypot(left + side / 2 - x, top + HIGH / 2 - y))
  return far.indexOf(Math.min(...far))
}
const around = (places) => {
  const [x, y] = [0, 1].map((i) => Math.min(...places.map((one) => one[i])))
  const right = Math.max(...places.map(([left, , side]) => left + side))
  const low = Math.max(...places.map(([, top]) => top + HIGH))
  return { x, y, width: right - x, height: low - y }
}

return { MOST, around, drawn, nearest }
})()
