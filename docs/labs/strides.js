/* What torch computes when it makes a view: sizes, strides and offset, or a refusal in torch's own words.
A tensor here is { size, stride, offset, memory }: memory is the array of numbers that its storage holds, so two tensors
share storage where it is the same array. Nothing here draws. tests/test_lab_stride.py compares all of it with torch. */

const Strides = (() => {
class Refused extends Error {
  constructor(kind, said) {
    super(said)
    this.kind = kind // the class of torch's error; empty where it is the lab that refuses
  }
}
const check = (holds, said, kind = "RuntimeError") => {
  if (!holds) throw new Refused(kind, said)
  return true
}

const product = (numbers) => numbers.reduce((a, b) => a * b, 1)
const list = (numbers) => `[${numbers.join(", ")}]`
const tuple = (numbers) => `(${numbers.join(", ")}${numbers.length === 1 ? "," : ""})`
const without = (numbers, dims) => numbers.filter((_, d) => !dims.includes(d))

/* The strides of a new tensor of that size. */
const fresh = (size) => size.map((_, d) => product(size.slice(d + 1).map((one) => Math.max(one, 1))))
const range = (n) => Array.from({ length: n }, (_, i) => i)
const positions = (size) => size.reduce((made, n) => made.flatMap((at) => range(n).map((i) => [...at, i])), [[]])
const cellOf = ({ stride, offset }, at) => at.reduce((cell, i, d) => cell + i * stride[d], offset)

/* The cell that each element reads, in the order of the elements. */
const cells = (y) => positions(y.size).map((at) => cellOf(y, at))
const values = (y) => cells(y).map((cell) => y.memory[cell])
const arange = (size) => ({ size, stride: fresh(size), offset: 0, memory: range(product(size)) })

/* Whether one dimension after the other, each as long as its stride, fills memory without gaps. */
const fills = ({ size, stride }, dims) => {
  const long = dims.filter((d) => size[d] !== 1)
  return long.every((d, i) => stride[d] === product(long.slice(0, i).map((one) => size[one])))
}
const contiguous = (y) => product(y.size) === 0 || fills(y, y.size.map((_, d) => d).reverse())
const dense = (y) => contiguous(y) || fills(y, y.size.map((_, d) => d).sort((a, b) => y.stride[a] - y.stride[b]))

/* What torch's check before an in-place write says of elements that share a cell. */
const overlap = (y) => (dense(y) ? "no" : y.size.some((n, d) => n > 1 && y.stride[d] === 0) ? "yes" : "too hard")

/* The strides of a copy that keeps the order of memory, as `clone` and `flip` make it. */
const kept = ({ size, stride, ...rest }) => {
  if (dense({ size, stride, ...rest })) return stride
  const order = size.map((_, d) => d).reverse()
  const after = (a, b) => stride[a] && stride[b] && (stride[a] - stride[b] || (size[a] > size[b] ? 1 : 0))
  for (let i = 1; i < order.length; i++) {
    for (let here = i, d = i - 1; d >= 0; d--) {
      const found = after(order[d], order[here])
      if (found < 0) break
      if (found > 0) [order[d], order[here], here] = [order[here], order[d], d]
    }
  }
  return size.map((_, d) => product(order.slice(0, order.indexOf(d)).map((one) => size[one])))
}
const copy = (size, stride, numbers) => {
  const made = { size, stride, offset: 0, memory: [] }
  cells(made).forEach((cell, i) => (made.memory[cell] = numbers[i]))
  return made
}

/* Neighbours that one stride can walk, from the right as `view` takes them: their dimensions, elements, and the step.
A dimension of size 1 belongs to none, but for the last one, whose stride a view keeps. */
const groups = ({ size, stride }) =>
  size.map((_, d) => d).filter((d) => size[d] !== 1 || d === size.length - 1).reverse().reduce((made, d) => {
    const last = made.at(-1)
    const merges = last && stride[d] === last.count * last.step
    if (!merges) return [...made, { dims: [d], count: size[d], step: stride[d] }]
    return made.with(-1, { dims: [d, ...last.dims], count: last.count * size[d], step: last.step })
  }, [])

/* A view's strides for a shape of as many elements; or the dimension of the shape that would span two groups, and the
dimensions of the tensor that do not merge. */
const viewed = (y, shape) => {
  if (product(y.size) === 0) return { stride: String(shape) === String(y.size) ? y.stride : fresh(shape) }
  const stride = shape.map(() => 1), made = groups(y)
  let d = shape.length - 1, walked
  for (const [i, { dims, count, step }] of made.entries()) {
    for (walked = 1; d >= 0 && (walked < count || shape[d] === 1); walked *= shape[d--]) stride[d] = walked * step
    if (walked !== count) return { spans: d + 1, left: made[i + 1].dims.at(-1), right: dims[0] }
  }
  return { stride }
}

/* What operations share. */
const wrap = (dim, count, n = Math.max(count, 1)) => {
  const said = `Dimension out of range (expected to be in range of [${-n}, ${n - 1}], but got ${dim})`
  check(dim >= -n && dim < n, said, "IndexError")
  return dim < 0 ? dim + n : dim
}
const several = (y, dims, said = (d) => `dim ${d} appears multiple times in the list of dims`) => {
  const made = dims.map((d) => wrap(d, y.size.length))
  made.forEach((d, i) => check(!made.slice(0, i).includes(d), said(d)))
  return made
}
const chosen = (y, dims) => ({ ...y, size: dims.map((d) => y.size[d]), stride: dims.map((d) => y.stride[d]) })
const changed = (y, d, size, stride, offset = y.offset) =>
  ({ ...y, size: y.size.with(d, size), stride: y.stride.with(d, stride), offset })
const slice = (y, d, start = 0, stop = Infinity, step = 1) => {
  const [from, to] = [start, stop].map((at) => Math.max(0, Math.min(y.size[d], at < 0 ? at + y.size[d] : at)))
  return changed(y, d, Math.ceil(Math.max(0, to - from) / step), y.stride[d] * step, y.offset + from * y.stride[d])
}

/* The shape that is meant where a size is -1. */
const inferred = (shape, count) => {
  const open = shape.indexOf(-1), known = product(shape.filter((n) => n !== -1))
  shape.forEach((n, d) => {
    check(n !== -1 || d === open, "only one dimension can be inferred")
    check(n >= -1, `invalid shape dimension ${n} at index ${d} of shape ${list(shape)}`)
  })
  const fits = count === known || (open >= 0 && known > 0 && count % known === 0)
  check(fits, `shape '${list(shape)}' is invalid for input of size ${count}`)
  if (open < 0) return shape
  const said = `cannot reshape tensor of 0 elements into shape ${list(shape)} because the unspecified dimension size -1`
  check(known, `${said} can be any value and is ambiguous`)
  return shape.with(open, count / known)
}

/* Whole numbers as they are typed. */
const number = (text) => {
  check(/^-?\d{1,6}$/.test(text), `${text || "nothing"} is not a whole number`, "")
  return Number(text)
}

const texts = (text) => text.replace(/[()[\]]/g, "").split(",").map((one) => one.trim()).filter(Boolean)
const numbers = (text) => texts(text).map(number)

/* Whether `view` grants a shape, given as text, in a sentence. */
const verdict = (y, text) => {
  let said = text
  try {
    said = numbers(text).join(", ")
    const shape = inferred(numbers(text), product(y.size)), { stride, spans, left, right } = viewed(y, shape)
    if (stride) return `view(${said}) works, with strides ${tuple(stride)}.`
    const [size, step] = [y.size[right], y.stride[right]]
    const walked = `size(${right}) · stride(${right}) = ${size} · ${step} = ${size * step}`
    return `view(${said}) is refused: dimension ${spans} of that shape would join dimensions ${left} and ${right} `
      + `of y, which do not merge, because stride(${left}) is ${y.stride[left]} and not ${walked}.`
  } catch (error) {
    if (!(error instanceof Refused)) throw error
    return `view(${said}) is refused: ${error.message}.`
  }
}

return { Refused, arange, cellOf, cells, changed, check, chosen, contiguous, copy, fresh, groups, inferred, kept, list,
  number, numbers, overlap, positions, product, range, several, slice, texts, tuple, values, verdict, viewed, wrap }
})()
