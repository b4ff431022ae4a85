/* What the labs share: their state, which the page's address keeps; controls; shapes as the book's figures have them.
A lab is a custom element around a figure. It says in `start` its state before anybody touches it (texts by name), makes
its controls in `controls()`, gives the shapes for a width in `drawn(width)`, a sentence on what is seen in `said()`,
and the Python that does the same in `program()`. Everything else is here.
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

class Lab extends HTMLElement {
  static start = {}
  recording = recordings[this.localName]
  state = { ...this.constructor.start }

  connectedCallback() {
    const address = new URLSearchParams(location.search)
    const linked = address.get("lab") === this.id
    if (linked) for (const name in this.state) this.state[name] = address.get(name) ?? this.state[name]
    this.stage = element("div", { className: "it-lab-stage" })
    this.told = element("output", { className: "it-lab-said", ariaLive: "polite" })
    this.code = element("code")
    this.box = element("div", { className: "it-lab-box", role: "group", ariaLabel: this.constructor.title })
    const controls = element("div", { className: "it-lab-controls" }, ...this.controls())
    this.box.append(controls, this.stage, this.told, this.foot())
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

  draw() {
    this.width = this.stage.clientWidth
    const { shapes, width = this.width, height } = this.drawn(this.width)
    const size = { viewBox: `0 0 ${width} ${height}`, width, height, class: "figure", "aria-hidden": true }
    this.stage.replaceChildren(shape("svg", size, shape("g", { class: "it-large" }, ...shapes)))
    this.told.textContent = this.said()
    this.code.textContent = this.program()
    this.dispatchEvent(new Event("drawn"))
  }

  /* The program and the link, below every lab. */
  foot() {
    const copy = element("button", { type: "button", className: "it-copy", textContent: "copy" })
    const listing = element("div", { className: "highlight" }, element("pre", {}, this.code))
    const source = element("div", { className: "it-source" }, element("div", { className: "it-tools" }, copy), listing)
    const program = element("details", {}, element("summary", {}, "as a program"), source)
    const link = this.button("copy a link to this view", async () => {
      const done = await copyText(new URL(this.address(), location.href).href).then(() => "copied", () => "not allowed")
      link.textContent = done
      setTimeout(() => (link.textContent = "copy a link to this view"), 2000)
    })
    const again = this.button("start again", () => {
      this.dispatchEvent(new Event("again"))
      this.set({ ...this.constructor.start })
    })
    const buttons = element("div", { className: "it-lab-controls" }, link, again)
    return element("div", { className: "it-lab-foot" }, buttons, program)
  }

  /* Controls. Those with a `name` show that part of the state and change it. */
  button(said, onclick) {
    return element("button", { type: "button", textContent: said, onclick })
  }

  bound(control, name, shown = "value", taken = (value) => value) {
    control.oninput = () => this.set({ [name]: String(taken(control[shown])) })
    this.addEventListener("drawn", () => {
      if (shown === "checked") control.checked = this.state[name] === "true"
      else if (control.value !== this.state[name]) control.value = this.state[name]
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

  /* Sliders over the picture, to drag or to move with the arrow keys, by name. Each has a box (x, y, width, height), a
  `label`, a value `now` up to `most`, `told` in words; the values `at(x, y)` of a point and `by(dx, dy)` of a step, and
  `go`, which takes one. One with `press`, which a click and Enter call, is not dragged. */
  sliders = {}

  slide(found) {
    this.found = found
    this.layer ??= element("div", { className: "it-lab-layer" })
    this.stage.previousSibling === this.layer || this.stage.before(this.layer)
    for (const name in found) this.sliders[name] ??= this.slider(name)
    for (const [name, made] of Object.entries(this.sliders)) {
      const { x, y, width, height, label, now, most, told, press } = found[name] ?? {}
      made.hidden = !found[name]
      Object.assign(made, { ariaLabel: label, ariaValueMin: 0, ariaValueMax: most })
      Object.assign(made, { ariaValueNow: now, ariaValueText: told })
      const top = y + this.stage.offsetTop - this.layer.offsetTop
      Object.assign(made.style, { left: `${x}px`, top: `${top}px`, width: `${width}px`, height: `${height}px` })
      made.style.touchAction = press ? "manipulation" : "none"
    }
  }

  slider(name) {
    const made = element("span", { className: "it-lab-slider", role: "slider", tabIndex: 0 })
    const point = ({ clientX, clientY }) => {
      const { left, top } = this.stage.getBoundingClientRect(), { at, go, now } = this.found[name]
      const value = at(clientX - left, clientY - top)
      if (value !== now) go(value)
    }
    made.onpointerdown = (event) => this.found[name].press || made.setPointerCapture(event.pointerId)
    made.onpointermove = (event) => made.hasPointerCapture(event.pointerId) && !this.found[name].press && point(event)
    made.onclick = (event) => this.found[name].press && (point(event), this.found[name].press())
    made.onkeydown = (event) => {
      const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key]
      if (step || event.key === "Enter") event.preventDefault()
      if (step) this.found[name].go(this.found[name].by(...step))
      else if (event.key === "Enter") this.found[name].press?.()
    }
    this.layer.append(made)
    return made
  }

  /* Buttons and a slider for the step `name` of the state, from 0 to `last()`; it plays a step a second. */
  steps(name, last) {
    const at = () => Math.min(Number(this.state[name]), last())
    const go = (step) => this.set({ [name]: String(Math.max(0, Math.min(last(), step))) })
    const slider = element("input", { type: "range", min: 0, step: 1, ariaLabel: "step" })
    slider.oninput = () => go(Number(slider.value))
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
      slider.max = last()
      slider.value = at()
      slider.setAttribute("aria-valuetext", `step ${at()} of ${last()}`)
      count.textContent = `${at()} of ${last()}`
      if (at() >= last()) stop()
    })
    return element("div", { className: "it-lab-steps" }, back, next, play, slider, count)
  }
}

/* Shapes, with the classes of assets/figures.css. A tone is 1, 2 or 3. */
const toned = (tone, ...shapes) => shape("g", { class: `it-${tone}` }, ...shapes)
const said = (x, y, text, kind = "it-value", anchor = "start") =>
  shape("text", { x, y, class: kind, "text-anchor": anchor }, String(text))
const rectangle = (x, y, width, height, kind, rx = 0) => shape("rect", { x, y, width, height, rx, class: kind })
const line = (...points) => shape("path", { class: "it-line", d: `M${points.map((one) => one.join(" ")).join("L")}` })

/* A cell with a value, an index above it, and a tone or none. */
const cell = (x, y, width, value, { index = "", tone = 0, height = 26 } = {}) => [
  rectangle(x, y, width, height, "it-cell"),
  tone ? toned(tone, rectangle(x + 0.5, y, width - 1, height, "it-fill")) : [],
  rectangle(x, y, width, height, "it-edge"),
  said(x + width / 2, y + height / 2 + 4.5, value, "it-value", "middle"),
  index === "" ? [] : said(x + width / 2, y - 5, index, "it-index", "middle"),
]

/* A box with lines of text in it; the first is its name. */
const pill = (x, y, width, lines, { kind = "it-pill", tone = 0, radius = 6 } = {}) => {
  const around = rectangle(x, y, width, 18 * lines.length + 8, kind, radius)
  const words = lines.map((text, i) => said(x + width / 2, y + 18 * i + 18, text, i ? "it-value" : "it-name", "middle"))
  return [tone ? toned(tone, around) : around, ...words]
}

/* An arrow from a point to another, with its head at the end. */
const arrow = ([x0, y0], [x1, y1]) => {
  const turn = (Math.atan2(y1 - y0, x1 - x0) * 180) / Math.PI
  const transform = `translate(${x1} ${y1}) rotate(${turn})`
  return [line([x0, y0], [x1, y1]), shape("path", { class: "it-head", d: "M0 0L-7 -4V4Z", transform })]
}

return { Lab, arrow, cell, element, line, pill, recordings, rectangle, said, shape, toned }
})()
