/* What the labs share: their state, which the page's address keeps; controls; shapes as the book's figures have them.
A lab is a custom element around a figure. It says in `start` its state before anybody touches it (texts by name), makes
its controls in `controls()`, those that a phone has folded under the picture in `settings()`, gives the shapes for a
width in `drawn(width)`, a sentence on what is seen in `said()`, and the Python that does the same in `program()`.
The scripts of labs take it from the one global name, Labs. */

const Labs = (() => {
const recordings = {} // of each lab by name, from labs/NAME.data.js

const element = (name, attributes = {}, ...children) => {
  const made = Object.assign(document.createElement(name), attributes)
  made.append(...children)
  return made
}

const shape = (name, attributes = {}, ...children) => {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name)
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value)
  made.append(...children.flat(Infinity))
  return made
}

const row = (...children) => element("div", { className: "it-lab-controls" }, ...children)
const fold = (said, child) => element("details", {}, element("summary", {}, said), child)

class Lab extends HTMLElement {
  static start = {}
  static more = "more settings" // what the fold of the settings is called
  recording = recordings[this.localName]
  state = { ...this.constructor.start }

  connectedCallback() {
    const address = new URLSearchParams(location.search)
    const linked = address.get("lab") === this.id
    if (linked) for (const name in this.state) this.state[name] = address.get(name) ?? this.state[name]
    this.stage = element("div", { className: "it-lab-stage" }, shape("svg"))
    this.told = element("output", { className: "it-lab-said", ariaLive: "polite" })
    this.code = element("code")
    this.box = element("div", { className: "it-lab-box", role: "group", ariaLabel: this.constructor.title })
    const [controls, settings] = [this.controls(), this.settings()].map((all) => row(...all))
    this.more = Object.assign(fold(this.constructor.more, settings), { className: "it-lab-more", open: true })
    this.box.append(this.more, controls, this.stage, this.told, this.foot())
    for (const child of this.children) child.hidden = true
    this.append(this.box)
    new ResizeObserver(() => this.width !== this.stage.clientWidth && this.draw()).observe(this.stage)
    this.draw()
    if (!linked) this.box.querySelector("button, input, select").focus({ preventScroll: true })
    if (linked || this.getBoundingClientRect().top < 60) this.scrollIntoView({ block: "start" }) // below the header
  }

  /* Changes the state, the address and the picture. */
  set(changes) {
    Object.assign(this.state, changes)
    history.replaceState(null, "", this.address())
    this.draw()
  }

  /* The address of this very view. */
  address() {
    const changed = Object.entries(this.state).filter(([name, value]) => value !== this.constructor.start[name])
    return `?${new URLSearchParams([["lab", this.id], ...changed])}#${this.id}`
  }

  /* Where there is room the settings stand above the picture, elsewhere folded below it. */
  fit() {
    const narrow = this.clientWidth < 600
    if (this.box.classList.contains("it-narrow") === narrow) return
    this.box.classList.toggle("it-narrow", narrow)
    this.more.open = !narrow
    narrow ? this.told.after(this.more) : this.box.prepend(this.more)
  }

  draw() {
    this.fit()
    if (!(this.width = this.stage.clientWidth)) return // the page is not laid out
    const { shapes, width = this.width, height } = this.drawn(this.width)
    const size = { viewBox: `0 0 ${width} ${height}`, width, height, class: "figure", "aria-hidden": true }
    this.stage.firstChild.replaceWith(shape("svg", size, shape("g", { class: "it-large" }, ...shapes)))
    this.told.textContent = this.said()
    this.code.textContent = this.program()
    this.dispatchEvent(new Event("drawn"))
  }

  /* The program and the link, below every lab. */
  foot() {
    const box = (className, child) => element("div", { className }, child)
    const tools = box("it-tools", element("button", { type: "button", className: "it-copy", textContent: "copy" }))
    const program = fold("as a program", box("it-source", tools))
    program.lastChild.append(box("highlight", element("pre", {}, this.code)))
    const link = this.button("copy a link to this view", async () => {
      const done = await copyText(new URL(this.address(), location.href).href).then(() => "copied", () => "not allowed")
      link.textContent = done
      setTimeout(() => (link.textContent = "copy a link to this view"), 2000)
    })
    const again = this.button("start again", () => {
      this.dispatchEvent(new Event("again"))
      this.set({ ...this.constructor.start })
    })
    return element("div", { className: "it-lab-foot" }, row(link, again), program)
  }

  /* Controls. Those with a `name` show that part of the state and change it. */
  button(said, onclick) {
    return element("button", { type: "button", textContent: said, onclick })
  }

  bound(control, name, shown = "value", taken = (value) => value) {
    control.oninput = () => this.set({ [name]: String(taken(control[shown])) })
    this.addEventListener("drawn", () => {
      if (shown === "checked") control.checked = this.state[name] === "true"
      else if (control.value !== this.state[name]) control.value = this.state[name] ?? ""
      if (control.selectedIndex < 0) control.selectedIndex = 0
    })
    return control
  }

  field(said, name, attributes = {}) {
    const input = element("input", { type: "text", autocomplete: "off", spellcheck: false, ...attributes })
    return element("label", {}, said, " ", this.bound(input, name))
  }

  choice(said, name, options) {
    const made = options.map((one) => element("option", { value: one.value ?? one, textContent: one.said ?? one }))
    return element("label", {}, said, " ", this.bound(element("select", {}, ...made), name))
  }

  tick(said, name) {
    return element("label", {}, this.bound(element("input", { type: "checkbox" }), name, "checked"), " ", said)
  }

  /* Buttons and a slider for the step `name` of the state, from 0 to `last()`; it plays a step a second. */
  steps(name, last) {
    const at = () => Math.min(Number(this.state[name]), last())
    const go = (step) => this.set({ [name]: String(Math.max(0, Math.min(last(), step))) })
    const oninput = () => go(Number(slider.value))
    const slider = element("input", { type: "range", min: 0, ariaLabel: "step", oninput })
    let timer
    const stop = () => ((timer = clearInterval(timer)), (play.textContent = "play"))
    const play = this.button("play", () => {
      if (timer) return stop()
      if (at() >= last()) go(0)
      play.textContent = "pause"
      timer = setInterval(() => (this.isConnected && at() < last() ? go(at() + 1) : stop()), 1000)
    })
    const back = this.button("back", () => (stop(), go(at() - 1)))
    const next = this.button("next", () => (stop(), go(at() + 1)))
    const count = element("span", { className: "it-lab-count" })
    this.addEventListener("again", stop)
    this.addEventListener("drawn", () => {
      count.textContent = `${at()} of ${last()}`
      Object.assign(slider, { max: last(), value: at(), ariaValueText: `step ${count.textContent}` })
      if (at() >= last()) stop()
    })
    return element("div", { className: "it-lab-steps" }, back, next, play, slider, count)
  }
}

/* Shapes, with the classes of assets/figures.css. A tone is 1, 2 or 3. */
const LETTER = 7.9 // width of a letter of names and values, with room to spare
const toned = (tone, ...shapes) => shape("g", { class: `it-${tone}` }, ...shapes)
/* A text. Of one longer than its room the end is left out, and stands in its title. */
const said = (x, y, text, kind = "it-value", anchor = "start", room = Infinity) => {
  const [whole, fit] = [String(text), Math.floor(room / LETTER)]
  const all = whole.length <= fit ? [whole] : [`${whole.slice(0, Math.max(0, fit - 1))}…`, shape("title", {}, whole)]
  return shape("text", { x, y, class: kind, "text-anchor": anchor }, ...all)
}
const rectangle = (x, y, width, height, kind, rx = 0) => shape("rect", { x, y, width, height, rx, class: kind })

/* A cell with a value, an index above it, a tone or none, and around it a ring of a class or none. */
const cell = (x, y, width, value, { index = "", tone = 0, ring = "", height = 26 } = {}) => [
  rectangle(x, y, width, height, "it-cell"),
  tone ? toned(tone, rectangle(x + 3, y + 3, width - 6, height - 6, "it-element", 6)) : [],
  rectangle(x, y, width, height, "it-edge"),
  ring ? shape("rect", { x, y, width, height, class: ring, style: "fill: none; stroke-width: 3" }) : [],
  said(x + width / 2, y + height / 2 + 5, value, "it-value", "middle", width),
  said(x + width / 2, y - 5, index, "it-index", "middle"),
]

/* A box with lines of text in it; the first is its name. */
const pill = (x, y, width, lines, { kind = "it-pill", tone = 0, radius = 6 } = {}) => {
  const around = rectangle(x, y, width, 18 * lines.length + 8, kind, radius)
  const words = lines.map((text, i) =>
    said(x + width / 2, y + 18 * i + 18, text, i ? "it-value" : "it-name", "middle", width - 4))
  return [tone ? toned(tone, around) : around, ...words]
}

/* An arrow from a point to another, with its head at the end. */
const arrow = ([x0, y0], [x1, y1]) => {
  const turn = (Math.atan2(y1 - y0, x1 - x0) * 180) / Math.PI
  const head = { class: "it-head", d: "M0 0L-7 -4V4Z", transform: `translate(${x1} ${y1}) rotate(${turn})` }
  return [shape("path", { class: "it-line", d: `M${x0} ${y0}L${x1} ${y1}` }), shape("path", head)]
}

return { LETTER, Lab, arrow, cell, element, pill, recordings, rectangle, row, said, shape, toned }
})()
