/* Steps through the keys of one call. The tables, the key sets and what real calls came to were recorded from torch
(inside_torch/labs/dispatch_stepper.py); the walk is computed here, by the dispatcher's rules. */

(({ LETTER, Lab, arrow, element, pill, rectangle, recordings, row, said, toned }) => {
const FRONT = "FuncTorchDynamicLayerFrontMode"
const AGAIN = { [FRONT]: "backend fallback", PythonTLSSnapshot: "backend fallback", // the kinds of their entries
  AutocastCPU: "kernel", ADInplaceOrView: "kernel", BackendSelect: "kernel" }
const FIRST = { [FRONT]: "It sets the keys of vmap's level", AutocastCPU: "It converts arguments where it has to",
  PythonTLSSnapshot: "It notes the thread's settings", BackendSelect: "It picks the backend that the arguments name",
  ADInplaceOrView: "It notes that the result is a view, or that a tensor was written to" }
const BY = { tensor: "from the tensor", thread: "from the thread", tensorthread: "from tensor and thread" }
const { keys, kinds, files, entries, texts, ops, code } = recordings["dispatch-stepper"]
const all = Object.keys(kinds)
const listed = (names) => names.join(", ").replace(/, ([^,]*)$/, " and $1")
const named = (typed) => typed.trim().replace(/^aten::/, "").replace(/\.default$/, "")
const runs = ({ happens }) => happens === "runs"
const isStop = ({ happens }) => ["runs", "falls through", "no kernel"].includes(happens)
const goesOn = (key, kind) => kind === "autograd kernel" || AGAIN[key] === kind

const entryOf = (op, id) => {
  const [kind, file, at, falls] = entries[ops[op][1][id]] ?? []
  return kind && { kind, place: `${files[file]}:${at}`, falls: falls === 1 }
}

/* What a real call came to: its kernels, the operators that they called, its error. Nothing where none was made. */
const ranOf = (op, kind) => {
  const [kernels, calls, error] = (ops[op][4][all.indexOf(kind)] ?? []).map((id) => texts[id])
  return { kernels: kernels?.split(" ").filter(Boolean), calls, error: error?.replace("{}", op) }
}

/* The keys of a call, the highest first, and what happens at each. Which kernel raises, only a real call can tell. */
const walk = (op, kind, real = true) => {
  const [{ kernels, error }, rows, sets] = [ranOf(op, kind), [], kinds[kind][3]]
  let ended = false
  const enter = (set) => {
    for (const [id, by, there] of set) {
      const row = { key: keys[id], by, entry: entryOf(op, id), happens: "runs" }
      rows.push(row)
      if (!there) row.happens = "excluded"
      else if (ended) row.happens = "not reached"
      else if (row.entry?.falls) row.happens = "falls through"
      else if (!row.entry) ended = row.happens = "no kernel"
      else if (!goesOn(row.key, row.entry.kind)) ended = "runs"
      else if (row.key === FRONT) {
        rows.push({ label: "vmap calls again, with these keys:" })
        return enter(sets[1].slice(1 + sets[1].findIndex(([next]) => keys[next] === FRONT)))
      }
    }
  }
  enter(sets[0])
  const ran = rows.filter(runs)
  if (!real || !kernels || (ran.length === kernels.length && (!error || ended === "no kernel"))) return rows
  const last = ran[kernels.length - 1]
  last[error ? "raises" : "ends"] = true
  for (const row of rows.slice(rows.indexOf(last) + 1)) if (isStop(row)) row.happens = "not reached"
  return rows
}

/* A path in lines that fit: cut before the name of the file, and inside a name where nothing else helps. */
const broken = (path, room) =>
  path.split(/(?<=\/)(?=[^/]*$)/).flatMap((part) => part.match(new RegExp(`.{1,${Math.floor(room / LETTER)}}`, "g")))

class DispatchStepper extends Lab {
  static title = "One call, key by key"
  static more = "another operator"
  static start = { op: "addmm", kind: "plain", step: "0" }

  settings() {
    const field = this.field("operator", "op"), options = Object.keys(ops).map((value) => element("option", { value }))
    field.lastChild.setAttribute("list", "operators")
    return [field, element("datalist", { id: "operators" }, ...options)]
  }

  controls() {
    const kinds = row(...all.map((kind) => this.button(kind, () => this.set({ kind }))))
    this.addEventListener("drawn", () => all.forEach((kind, i) => this.count(kinds.children[i], kind)))
    Object.assign(kinds, { role: "group", ariaLabel: "kind of tensor, and how many kernels run" })
    return [kinds, this.steps("step", () => this.stops().length)]
  }

  /* The button of a kind says how many kernels run, and whether the call fails. */
  count(button, kind) {
    const rows = walk(this.op, kind).filter(isStop), { raises, happens } = rows.at(-1)
    const fails = raises || happens === "no kernel" ? " fails" : ""
    button.textContent = `${kind}: ${rows.filter(runs).length}${fails}`
    button.ariaPressed = String(kind === this.kind)
  }

  /* Another operator or kind is looked at from the beginning. A name that is no operator's is forgotten then. */
  set(changes) {
    super.set({ step: "0", op: this.op, ...changes })
  }
  get op() {
    if (Object.hasOwn(ops, named(this.state.op))) this.good = named(this.state.op)
    return this.good ?? DispatchStepper.start.op
  }
  get kind() {
    return all.includes(this.state.kind) ? this.state.kind : "plain"
  }
  get at() {
    return Math.max(0, Math.min(Math.floor(this.state.step) || 0, this.stops().length))
  }
  stops = (real) => walk(this.op, this.kind, real).filter(isStop)

  drawn(width) {
    const wide = width >= 560
    const [column, left] = wide ? [238, 48] : [40, 50] // of the kernels' boxes and of the keys' names
    const rows = walk(this.op, this.kind), now = rows.filter(isStop)[this.at - 1]
    let y = 26, above = 0, shapes = [said(14, 14, "1: in the key set, 0: excluded", "it-note")]
    for (const row of rows) {
      const box = runs(row) ? [row.entry.kind, ...broken(row.entry.place, width - column - 12)] : []
      if (row.raises) box.push("raises an error")
      const names = row.label ? [] : wide ? row.key.split(/(?<=Layer)/) : [row.key]
      const head = 18 * names.length + 22
      const [top, high] = [wide ? y + 4 : y + head, box.length && 18 * box.length + 8]
      const height = wide ? Math.max(head, high + 8) : head + (high && high + 6)
      const beside = row.label ?? { runs: "", "no kernel": "no kernel: the call fails" }[row.happens] ?? row.happens
      const note = [BY[row.by], wide ? "" : beside].filter(Boolean).join(": ")
      const band = [toned(1, rectangle(0, y, width, height, "it-fill", 4)), said(1, y + 20, "▸", "it-name")]
      shapes.push(...(row === now ? band : []), ...(row.key ? this.bit(14, y + 5, row.happens) : []))
      const kind = runs(row) ? "it-name" : "it-value it-note"
      shapes.push(names.map((name, i) => said(left, y + 18 + 18 * i, name, kind)))
      shapes.push(said(left, y + head - 6, note, "it-note"), said(column + 36, y + 18, wide ? beside : "", "it-note"))
      if (runs(row)) {
        const at = column + (wide ? 20 : 3)
        if (above) shapes.push(toned(1, ...arrow([at, above], [at, top])))
        shapes.push(...pill(column, top, width - column - 2, box, row === now ? { kind: "it-element", tone: 1 } : {}))
        above = top + high
      }
      y += height + 4
    }
    return { shapes, height: y + 2 }
  }

  /* A key's bit: filled where its kernel runs, dashed where the thread takes it away. */
  bit(x, y, happens) {
    const [kind, value] = { runs: ["it-element", 1], excluded: ["it-edge it-dashed", 0] }[happens] ?? ["it-edge", 1]
    return [toned(1, rectangle(x, y, 22, 22, kind)), said(x + 11, y + 16, value, "it-value", "middle")]
  }

  said() {
    const [typed, stops] = [named(this.state.op), this.stops()], row = stops[this.at - 1]
    if (typed === this.op && !row) return this.summary(stops)
    const at = row && runs(row) ? `At ${row.key} the ${row.entry.kind} runs, registered at ${row.entry.place}.\n` : ""
    if (typed === this.op) return at + this.next(row)
    const like = listed(Object.keys(ops).filter((name) => typed && name.startsWith(typed)).slice(0, 6))
    return `No operator here is called “${typed}”: choose ${like || "another"}. The picture shows ${this.op}.`
  }

  summary(stops) {
    const [op, [, , text, size], ran] = [this.op, ops[this.op], stops.filter(runs)]
    const count = `${ran.length} kernel${ran.length === 1 ? "" : "s"} of ${op} itself`
    const inner = /^(autocast|vmap)$/.test(this.kind) ? " Other operators that it calls are only named here." : ""
    const noted = text ? `Seen in ${op}(${text}), x of size ${size}.` : "It was not called: the table alone says so."
    return `The keys are asked from the top down. One call of ${op} on ${kinds[this.kind][0]} runs ${count}: ` +
      `${listed(ran.map(({ key }) => key))}.\n` +
      `${this.next(stops.at(-1))} ${noted}${inner}`
  }

  next({ key, happens, raises, ends, entry }) {
    const [op, { calls = "", error }] = [this.op, ranOf(this.op, this.kind)]
    const called = key === "AutocastCPU" ? calls.split("|")[0] : calls.split("|").at(-1)
    const inner = `calls ${called || "other operators"}, in new calls, each with keys of its own.`
    if (happens === "falls through") return `${key} falls through for ${op}, so the next lower key is asked.`
    if (happens === "no kernel") return `The table of ${op} has no entry for ${key}: ${error || "no kernel"}.`
    if (raises) return `The kernel for ${key} raises ${error}.`
    if (ends) return `It does all that ${op} has to do, and does not call it again.`
    if (entry.kind === "autograd kernel")
      return `It makes a node if an input requires grad, and calls ${op} again with the keys below its own.`
    if (entry.kind === "math kernel") return `${op} is composed of other operators: at ${key} its kernel ${inner}`
    if (key === "AutocastCPU" && called) return `${FIRST[key]}, and calls ${op} again. In all it calls ${called}.`
    if (goesOn(key, entry.kind)) return `${FIRST[key]}, and calls ${op} with ${key === FRONT ? "these" : "lower"} keys.`
    if (key === "Python") return `Python takes over: it calls __torch_dispatch__, and this one calls ${called}.`
    if (key === FRONT) return `vmap has a kernel of its own for ${op}: it ${inner}`
    if (key === "FuncTorchVmapMode") return "It decides whether vmap may draw random numbers."
    if (key === "FuncTorchBatched" && entry.kind === "backend fallback")
      return `There is no batching rule for ${op}: the fallback takes the examples one by one, and ${inner}`
    if (key === "FuncTorchBatched") return `The batching rule takes the whole batch: it ${inner}`
    return `The kernel for ${key} computes the result.${called && ` Operators called on the way: ${called}.`}`
  }

  program() {
    const [op, [, tensor, around], [, , text, size]] = [this.op, kinds[this.kind], ops[this.op]]
    const vmap = around === "vmap"
    const classes = ["Wrapped", "Mode"].filter((name) => (tensor + around).includes(name)).map((name) => code[name])
    const again = vmap ? '    print("vmap calls again")\n    torch.ops.peek.keys(x)\n' : ""
    const f = `torch.ops.aten.${op.includes(".") ? op : `${op}.default`}`
    const tried = text && `    try:\n        ${f}(${text})\n    except Exception as error:\n` +
      '        print(type(error).__name__ + ":", str(error)[:120])\n'
    const run = vmap ? "torch.func.vmap(call)(torch.stack([x] * 3))" : "call(x)"
    const watched = this.stops().filter(runs).map(({ key }) => key).join(" ")
    return [code.imports, classes[0] ?? "\n", code.keys.replaceAll("OPERATOR", op), vmap ? code.peek : "",
      `def call(x):\n    keys(x)\n${again}${tried}    return x\n\n\nt = torch.ones(${size || "2, 2"})\nx = ${tensor}\n`,
      /\bi\b/.test(text) ? `t = torch.ones(${size}).long()\ni = ${tensor}\n` : "", `watch("${watched}")\n`,
      /nullcontext|vmap/.test(around) ? run : `with ${around}:\n    ${run}`, '\nprint("ran:", *ran)\n'].join("")
  }
}

customElements.define("dispatch-stepper", DispatchStepper)
})(Labs)
