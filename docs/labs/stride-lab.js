/* Stride lab: a tensor by its sizes, strides and offset; which cells of memory its elements read; whether `view` works.
The arithmetic is that of strides.js and strides-operations.js; the picture is that of stride-picture.js. */

(() => {
const { StrideSliders, element, row } = Labs, { texts, tuple } = Strides, { MOST } = StridePicture
const ROOM = 32 // elements of x that are drawn
const PUZZLES = {
  "the lost write: a flattened transpose": ["3, 4", ".t().reshape(-1)", "-1"],
  "what view makes of a transpose": ["3, 4", ".t()", "2, 2, 3"],
  "a slice with a step": ["4, 5", "[:, 1::3]", "-1"],
  "a view of what is not contiguous": ["2, 3, 4", "[:, 1:]", "2, 8"],
  "a view that is refused": ["2, 3, 4", "[:, 1:]", "4, 4"],
  "one bias for three rows": ["4", ".expand(3, -1)", "-1"],
  "windows that overlap": ["5", ".unfold(0, 3, 1)", "-1"],
  "channels last": ["1, 3, 2, 2", ".permute(0, 2, 3, 1).contiguous().permute(0, 3, 1, 2)", "-1"],
  "a diagonal by its strides": ["4, 4", ".as_strided((4,), (5,), 0)", "2, 2"],
}

const fits = ({ size, memory }) => {
  const drawn = size.length < 5 && Math.max(Strides.product(size), memory.length) <= MOST
  Strides.check(drawn, `the lab draws up to four dimensions and ${MOST} elements`, "")
}

class StrideLab extends StrideSliders {
  static title = "Stride lab"
  static start = { x: "3, 4", y: ".t().reshape(-1)", shape: "-1", at: "1", ask: "false", cell: "" }
  cursor = 0 // the cell that the arrow keys are at, before Enter answers with it

  controls() {
    const does = (event) => this.chained([...this.seen.done, event.target.textContent])
    const buttons = Strides.offers([0]).map(() => this.button("", does))
    const undo = this.button("undo", () => this.chained(this.seen.done.slice(0, this.seen.refused ? undefined : -1)))
    const next = this.button("next element", () => this.set({ at: this.another(), cell: "" }))
    this.addEventListener("drawn", () => {
      Strides.offers(this.seen.y.size).forEach((code, i) => (buttons[i].textContent = code))
      undo.disabled = !this.seen.done.length && !this.seen.refused
      next.hidden = !this.asks || this.state.cell === ""
      this.slide()
    })
    const doing = Object.assign(row(...buttons, undo), { role: "group", ariaLabel: "do to y" })
    doing.classList.add("it-lab-code")
    return [doing, next]
  }

  settings() {
    const text = { type: "text", autocomplete: "off", spellcheck: false }
    const onblur = () => this.draw() // refused numbers go
    const inputs = ["sizes", "strides", "offset"].map((name) => element("input", { ...text, name, onblur }))
    const typed = inputs.map((one) => element("label", {}, one.name, " ", one))
    inputs.forEach((one) => (one.oninput = () => this.strided(...inputs.map(({ value }) => value))))
    const ask = this.tick("ask me first", "ask")
    ask.firstChild.oninput = () => this.set({ ask: String(ask.firstChild.checked), at: this.another(), cell: "" })
    const names = Object.keys(PUZZLES), own = element("option", { value: "", textContent: "your own", disabled: true })
    const puzzle = element("select", {}, ...names.map((name) => element("option", { textContent: name })), own)
    puzzle.oninput = () => {
      const [x, y, shape] = PUZZLES[puzzle.value] ?? [this.state.x, this.state.y, this.state.shape]
      this.set({ x, y, shape })
    }
    this.addEventListener("drawn", () => {
      const { x, y, shape } = this.state, { refused, y: { size, stride, offset } } = this.seen
      const said = refused?.error.message ?? "", odd = texts(x).join() !== this.seen.x.size.join()
      const mark = (one, wrong) => Object.assign(one, { ariaInvalid: String(wrong), title: wrong ? said : "" })
      mark(fields[0], odd)
      mark(fields[1], !odd && Boolean(said))
      mark(fields[2], !this.view())
      for (const [i, numbers] of [size, stride, [offset]].entries()) {
        if (inputs[i] !== document.activeElement) inputs[i].value = numbers.join(", ")
        mark(inputs[i], Boolean(said) && texts(inputs[i].value).join() !== numbers.join())
      }
      puzzle.value = names.find((name) => String(PUZZLES[name]) === String([x, y, shape])) ?? ""
    })
    const long = { className: "it-lab-long" }
    const x = this.field("sizes of x", "x"), y = this.field("y = x", "y", long), shape = this.field("view to", "shape")
    const fields = [x, y, shape].map((one) => one.lastChild)
    return [row(element("label", {}, "puzzle ", puzzle), x, y), row("y: ", ...typed, shape), ask]
  }

  /* Another element, to ask for; where there are fewer, the number is taken modulo their count. */
  another = () => String(Math.floor(Math.random() * 997))

  set(changes) {
    const asks = ("x" in changes || "y" in changes) && this.state.ask === "true"
    const count = this.elements.length
    super.set(asks ? { at: this.another(), ...changes, cell: "" } : changes)
    if (!("shape" in changes) && this.elements.length !== count) super.set({ shape: "-1" })
  }

  chained = (codes) => this.set({ x: this.seen.x.size.join(", "), y: codes.join("") })

  /* The last operation is then `as_strided`, with the numbers given as texts; where it is refused, after the last. */
  strided(...typed) {
    const [size, stride, offset] = typed.map(texts), { x, done } = this.seen
    const made = `.as_strided(${tuple(size)}, ${tuple(stride)}, ${offset.join() || 0})`
    const before = done.filter((code, i) => i + 1 < done.length || !code.startsWith(".as_strided"))
    const { refused } = Strides.run(x, [...before, made].join(""), fits)
    this.chained([...(refused ? done : before), made])
  }

  /* What the state says. What cannot be read leaves what was seen before. */
  look() {
    try {
      const size = Strides.numbers(this.state.x), count = Strides.product(size)
      const small = size.length > 0 && size.length < 5 && size.every((n) => n > 0) && count <= ROOM
      Strides.check(small, `x has one to four dimensions here, and 1 to ${ROOM} elements`, "")
      this.seen = Strides.run(Strides.arange(size), this.state.y, fits)
    } catch (error) {
      if (!(error instanceof Strides.Refused)) throw error
      this.seen ??= Strides.run(Strides.arange([3, 4]), "", () => 0)
      this.seen.refused = { code: "", error }
    }
    this.elements = Strides.positions(this.seen.y.size)
    this.read = Strides.cells(this.seen.y)
    this.at = Number(this.state.at) % this.elements.length || 0
    this.asks = this.state.ask === "true" && this.elements.length > 0
    this.blind = this.asks && this.state.cell === ""
  }

  /* How the chosen element's cell is computed. */
  formula() {
    const { stride, offset } = this.seen.y, steps = this.elements[this.at].map((i, d) => `${i} · ${stride[d]}`)
    return `${[offset, ...steps].join(" + ")} = ${this.read[this.at]}`
  }

  named(at = this.at) {
    return this.elements[at]?.length ? `y[${this.elements[at].join(", ")}]` : "y"
  }

  drawn(width) {
    this.look()
    const { at, asks, blind, cursor, elements, read } = this, guess = asks && !blind ? Number(this.state.cell) : -1
    const reads = `${this.named()} reads cell ${blind ? "?" : read[at]}`, none = ["y has no elements: a size is 0"]
    const lines = elements.length ? [reads, ...(blind ? [] : [this.formula()])] : none
    const asked = { guess, lines, cursor: blind ? cursor : -1 }
    this.picture = StridePicture.drawn({ ...this.seen, elements, read, at, blind, ...asked }, width)
    return this.picture
  }

  said() {
    const { x, y, done, refused } = this.seen, of = (codes) => `x${codes.join("")}`, error = refused?.error
    const [size, stride] = [y.size, y.stride].map(tuple)
    const still = `The picture still shows ${of(done)}, sizes ${size}, strides ${stride}, offset ${y.offset}.`
    if (error && !error.kind) return `The lab cannot show that: ${error.message}. ${still}`
    if (error) return `torch refuses ${of([...done, refused.code])} with a ${error.kind}: ${error.message}\n${still}`
    const me = this.named(), cell = this.read[this.at], by = Number(this.state.cell)
    if (this.blind) return `Which cell does ${me} read? Click it, or go to it with the arrow keys and press Enter.`
    if (this.asks && by === cell) return `Right: ${me} reads cell ${cell}, because ${this.formula()}.`
    if (this.asks) {
      const other = this.read.indexOf(by), reader = other < 0 ? "no element" : this.named(other)
      return `No: cell ${by} is read by ${reader}. ${me} reads cell ${cell}: ${this.formula()}.`
    }
    const shared = new Set(this.read).size < this.read.length
    const check = Strides.overlap(y) === "yes" ? "so torch refuses in-place writes, because its check sees a stride 0" :
      "but torch allows in-place writes, because its check looks only for a stride 0"
    const made = y === x ? "x itself" : y.memory === x.memory ? "a view" : "a copy"
    return `${done.length ? of(done) : "y"} is ${made}`
      + `${Strides.contiguous(y) ? ", contiguous" : ", not contiguous"}. `
      + (shared ? `Several of its elements share a cell, ${check}. ` : "") + Strides.verdict(y, this.state.shape)
  }

  program() {
    const { x, done, refused } = this.seen
    const tried = (code) => `try:
    print("${code}:", y${code}.stride())
except (IndexError, RuntimeError, ValueError) as error:
    print("${code}:", type(error).__name__, error)
`
    return `import torch

x = torch.arange(${x.memory.length}).reshape(${x.size.join(", ")})
y = x${done.join("")}
print("sizes", tuple(y.shape), "strides", y.stride(), "offset", y.storage_offset())
home, storage = x.untyped_storage(), y.untyped_storage()
print("a view:", storage.data_ptr() == home.data_ptr(), "contiguous:", y.is_contiguous())
memory = torch.arange(storage.nbytes() // y.itemsize)
cells = memory.as_strided(y.shape, y.stride(), y.storage_offset())
print("cells:", cells.tolist(), "shared:", cells.unique().numel() < y.numel())
` + (this.view() ? tried(`.view(${this.view()})`) : "") + (refused?.error.kind ? tried(refused.code) : "")
  }

  /* The shape that `view` is asked for, as Python; empty where it cannot be read. */
  view() {
    return /^[-\d,\s]*\d[-\d,\s]*$/.test(this.state.shape) ? Strides.numbers(this.state.shape).join(", ") : ""
  }
}

customElements.define("stride-lab", StrideLab)
})()
