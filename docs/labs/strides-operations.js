/* The operations of the stride lab, on the tensors of strides.js: what each makes of a tensor, or refuses as torch
does; and the reading of Python such as `.t()[:, ::2].view(6)`. */

Object.assign(Strides, (() => {
const { cellOf, changed, check, chosen, contiguous, copy, fresh, inferred, kept, list, positions, product } = Strides
const { Refused, number, numbers, several, slice, values, viewed, wrap } = Strides

/* The operations: their least and most arguments, where the most is Infinity also as one list, and what they make of a
tensor. */
const any = [1, Infinity]
const operations = {
  t: [0, 0, (y) => {
    check(y.size.length <= 2, `t() expects a tensor with <= 2 dimensions, but self is ${y.size.length}D`)
    return chosen(y, y.size.map((_, d) => d).reverse())
  }],
  transpose: [2, 2, (y, a, b) => {
    const [from, to] = [wrap(a, y.size.length), wrap(b, y.size.length)]
    return chosen(y, y.size.map((_, d) => (d === from ? to : d === to ? from : d)))
  }],
  permute: [...any, (y, ...dims) => {
    const said = "permute(sparse_coo): number of dimensions in the tensor input does not match the length of the"
    const counts = `input.dim() = ${y.size.length} is not equal to len(dims) = ${dims.length}`
    check(dims.length === y.size.length, `${said} desired ordering of dimensions i.e. ${counts}`)
    return chosen(y, several(y, dims, () => "permute(): duplicate dims are not allowed."))
  }],
  expand: [...any, (y, ...to) => {
    const what = `expand(torch.LongTensor{${list(y.size)}}, size=${list(to)})`
    const said = `${what}: the number of sizes provided (${to.length}) must be greater or equal to the number of`
    check(to.length >= y.size.length, `${said} dimensions in the tensor (${y.size.length})`)
    const size = [], stride = [], more = to.length - y.size.length
    for (let i = to.length - 1; i >= 0; i--) {
      const is = y.size[i - more] ?? 1, wanted = to[i] === -1 && i >= more ? is : to[i]
      const said = `The expanded size of the tensor (${to[i]})`
      check(wanted !== -1, `${said} isn't allowed in a leading, non-existing dimension ${i}`)
      check(is === 1 || wanted === is, `${said} must match the existing size (${is}) at non-singleton dimension ${i}.  `
        + `Target sizes: ${list(to)}.  Tensor sizes: ${list(y.size)}`)
      const step = y.stride[i - more] ?? (y.size.length ? size[0] * stride[0] : 0)
      stride.unshift(is === wanted ? step : 0)
      size.unshift(wanted)
    }
    check(size.every((n) => n >= 0), "numel: integer multiplication overflow")
    return { ...y, size, stride }
  }],
  view: [...any, (y, ...to) => {
    const size = inferred(to, product(y.size)), { stride } = viewed(y, size)
    check(stride, "view size is not compatible with input tensor's size and stride (at least one dimension spans "
      + "across two contiguous subspaces). Use .reshape(...) instead.")
    return { ...y, size, stride }
  }],
  reshape: [...any, (y, ...to) => {
    const size = inferred(to, product(y.size)), { stride } = viewed(y, size)
    return stride ? { ...y, size, stride } : copy(size, fresh(size), values(y))
  }],
  flatten: [0, 0, (y) => operations.reshape[2](y, -1)],
  unfold: [3, 3, (y, dim, size, step) => {
    const d = wrap(dim, y.size.length), n = y.size[d] ?? 1
    check(size >= 0, `size is ${size} but must be >= 0`)
    check(size <= n, `maximum size for tensor at dimension ${d} is ${n} but size is ${size}`)
    check(step > 0, `step is ${step} but must be > 0`)
    const cut = y.size.length ? changed(y, d, Math.floor((n - size) / step) + 1, y.stride[d] * step) : y
    return { ...cut, size: [...cut.size, size], stride: [...cut.stride, y.stride[d] ?? 1] }
  }],
  diagonal: [0, 3, (y, shift = 0, first = 0, second = 1) => {
    const [a, b] = [wrap(first, y.size.length), wrap(second, y.size.length)]
    check(a !== b, `diagonal dimensions cannot be identical ${first}, ${second}`)
    const count = Math.max(0, Math.min(y.size[a] + Math.min(shift, 0), y.size[b] - Math.max(shift, 0)))
    const offset = y.offset + (count ? (shift < 0 ? -shift * y.stride[a] : shift * y.stride[b]) : 0)
    const { size, stride } = chosen(y, y.size.map((_, d) => d).filter((d) => d !== a && d !== b))
    return { ...y, offset, size: [...size, count], stride: [...stride, y.stride[a] + y.stride[b]] }
  }],
  squeeze: [0, Infinity, (y, ...dims) => {
    const named = dims.length ? several(y, dims) : y.size.map((_, d) => d)
    return chosen(y, y.size.map((_, d) => d).filter((d) => y.size[d] !== 1 || !named.includes(d)))
  }],
  unsqueeze: [1, 1, (y, dim) => {
    const d = wrap(dim, y.size.length + 1), step = d < y.size.length ? y.size[d] * y.stride[d] : 1
    return { ...y, size: y.size.toSpliced(d, 0, 1), stride: y.stride.toSpliced(d, 0, step) }
  }],
  flip: [...any, (y, ...dims) => {
    const named = several(y, dims)
    const from = (at) => cellOf(y, at.map((i, d) => (named.includes(d) ? y.size[d] - 1 - i : i)))
    return copy(y.size, kept(y), positions(y.size).map((at) => y.memory[from(at)]))
  }],
  contiguous: [0, 0, (y) => (contiguous(y) ? y : copy(y.size, fresh(y.size), values(y)))],
  clone: [0, 0, (y) => copy(y.size, kept(y), values(y))],
  as_strided: [2, 3, (y, size, stride, offset = y.offset) => {
    check(size.length === stride.length, "mismatch in length of strides and shape")
    const negative = `as_strided: Negative strides are not supported at the moment, got strides: ${list(stride)}`
    check(stride.every((one) => one >= 0), negative)
    const empty = size.includes(0), room = 8 * y.memory.length
    check(offset >= 0, `Tensor: invalid storage offset ${offset}`)
    const overflows = `Storage size calculation overflowed with sizes=${list(size)} and strides=${list(stride)}`
    check(empty || size.every((n, d) => n > 0 || !stride[d]), overflows)
    const needs = 8 * (1 + offset + size.reduce((sum, n, d) => sum + (n - 1) * stride[d], 0))
    const said = `setStorage: sizes ${list(size)}, strides ${list(stride)}, storage offset ${offset}, and itemsize 8`
    const bounds = `requiring a storage size of ${needs} are out of bounds for storage of size ${room}`
    check(empty || needs <= room, `${said} ${bounds}`)
    check(empty || size.every((n) => n > 0), "numel: integer multiplication overflow")
    return { ...y, size, stride, offset }
  }],
}

/* The operations of a chain, as texts. */
const chain = (code) => {
  const found = code.trim().match(/\s*(\.\s*\w+\s*\((?:[^()]|\([^()]*\))*\)|\[[^\][]*\])/gy) ?? []
  const read = found.join("").length
  check(read === code.trim().length, `the lab cannot read ${code.trim().slice(read)}`, "")
  return found.map((one) => one.trim())
}

/* Arguments: whole numbers, and tuples or lists of them. */
const given = (text) =>
  [...text.matchAll(/([([])([^)\]]*)[)\]]|[^,()[\]]+/g)].filter(([all]) => all.trim()).map(([all, open, inside]) =>
    open ? numbers(inside) : number(all.trim()))

const cut = (y, d, text) => {
  const [start, stop, step] = text.split(":").map((one) => (one.trim() ? number(one.trim()) : undefined))
  check(text.split(":").length < 4, `the lab cannot read [${text}]`, "")
  check(step !== 0, "slice step cannot be zero", "ValueError")
  check(!(step < 0), "step must be greater than zero", "ValueError")
  check(y.size.length, "slice() cannot be applied to a 0-dim tensor.", "IndexError")
  return slice(y, d, start, stop, step)
}

const selected = (y, d, i, named) => {
  const n = y.size[d] ?? 0
  check(y.size.length || i, "invalid index of a 0-dim tensor. Use `tensor.item()` in Python or `tensor.item<T>()` in "
    + "C++ to convert a 0-dim tensor to a number", "IndexError")
  check(i >= -n && i < n, `index ${i} is out of bounds for dimension ${named} with size ${n}`, "IndexError")
  const { size, stride, offset, memory } = slice(y, d, i, i < 0 ? i + n + 1 : i + 1)
  return { size: size.toSpliced(d, 1), stride: stride.toSpliced(d, 1), offset, memory }
}

/* What stands between brackets: whole numbers, slices, None and one ellipsis. */
const indexed = (y, text) => {
  const items = text.split(",").map((one) => one.trim()).filter((one, i, all) => one || i + 1 < all.length)
  const taken = (some) => some.filter((one) => one !== "None" && one !== "...").length // dimensions that they take
  const count = taken(items)
  const alone = items.length === 1 && !text.includes(",") && y.size.length === 0 && count
  check(alone || count <= y.size.length, `too many indices for tensor of dimension ${y.size.length}`, "IndexError")
  let d = 0
  for (const [i, one] of items.entries()) {
    if (one === "None") y = operations.unsqueeze[2](y, d++)
    else if (one === "...") d = y.size.length - taken(items.slice(i + 1))
    else if (one.includes(":")) y = cut(y, d++, one)
    else y = selected(y, d, number(one), i)
  }
  return y
}

/* What one operation of a chain makes of a tensor. */
const applied = (y, code) => {
  if (code[0] === "[") return indexed(y, code.slice(1, -1))
  const [, name, inside] = code.match(/^\.\s*(\w+)\s*\((.*)\)$/s)
  check(Object.hasOwn(operations, name), `the lab has no ${name}`, "")
  const [least, most, made] = operations[name]
  const all = given(inside), listed = most === Infinity && Array.isArray(all[0]), args = listed ? all.flat() : all
  const lists = name === "as_strided" ? [true, true, false] : []
  check(all.length >= least && args.length <= most, `${name}() takes other arguments`, "")
  check(args.every((one, i) => Array.isArray(one) === (lists[i] ?? false)), `the lab cannot read ${code}`, "")
  return made(y, ...args)
}

/* As much of a chain as works, from x: the tensor y, the operations `done`, and of a refused one its code and error. */
const run = (x, code, fits) => {
  const made = { x, y: x, done: [] }
  for (const one of chain(code)) {
    try {
      const next = applied(made.y, one)
      fits(next)
      Object.assign(made, { y: next, done: [...made.done, one] })
    } catch (error) {
      if (!(error instanceof Refused)) throw error
      return { ...made, refused: { code: one, error } }
    }
  }
  return made
}

/* Operations to choose from, for a tensor of that size. */
const offers = (size) => {
  const all = size.map((_, d) => d), whole = size.slice(1).map(() => ":, ").join("")
  const turned = [...all.slice(-1), ...all.slice(0, -1)].join(", ")
  return [size.length > 2 ? ".transpose(0, 1)" : ".t()", `.permute(${turned})`, "[1:]", `[${whole}::2]`, "[::-1]",
    `.expand(${[2, ...all.map(() => -1)].join(", ")})`, ".view(-1)", ".reshape(-1)",
    `.unfold(${size.length - 1}, 2, 1)`, ".unsqueeze(0)", ".squeeze()", ".diagonal()", ".flip(0)", ".contiguous()"]
}

return { applied, chain, offers, run }
})())
