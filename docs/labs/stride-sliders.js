/* What can be dragged in the picture of the stride lab, or moved with the arrow keys: the cell that answers or the
element that is shown, the sizes, the strides and the offset. */

(() => {
const { MOST, around, nearest } = StridePicture
const PULL = 20 // px that make a size one larger

Labs.StrideSliders = class extends Labs.Lab {
  sliders = {}

  /* By name: a box (x, y, width, height), a label, the value `now` up to `most`, `told` in words; the values
  `at(x, y, from)` of a point, where `from` has x and value of the start, and `by(dx, dy)` of a step, and `go`, which
  takes one. One with `press`, which a click and Enter call, is not dragged. */
  handles() {
    const { cells, elements, moves, per, wraps } = this.picture, { y } = this.seen, last = y.size.at(-1) || 1
    const within = (places, value) => Math.max(0, Math.min(places.length - 1, value))
    const over = (places) => ({ ...around(places), most: places.length - 1, at: (x, y) => nearest(places, x, y) })
    const found = {}, now = this.blind ? this.cursor : this.at, told = `${this.named()} reads cell ${this.read[now]}`
    if (this.blind) {
      found.guess = { ...over(cells), label: `cell of ${this.named()}`, now, told: `cell ${now}`,
        by: (dx, dy) => within(cells, now + dx + dy * per), go: (cell) => this.draw((this.cursor = cell)),
        press: () => this.set({ cell: String(this.cursor) }) }
    } else if (elements.length) {
      found.element = { ...over(elements), label: "element of y", now, told, press: () => 0,
        by: (dx, dy) => within(elements, now + dx + dy * last), go: (at) => this.set({ at: String(at) }) }
    }
    for (const { name, part, d, x, y: top, now } of moves) {
      const changed = (value) => ({ ...y, [part]: part === "offset" ? value : y[part].with(d, value) })
      const cell = (x, low) => nearest(cells, x, low - (wraps ? 24 : 0)) - (part === "stride" ? y.offset : 0)
      const pulled = (x, low, from) => from.now + Math.round((x - from.x) / PULL)
      const go = (value) => {
        const { size, stride, offset } = changed(Math.max(0, value))
        this.strided(String(size), String(stride), String(offset))
      }
      found[name] = { x: x - 14, y: top - 14, width: 28, height: 28, label: name, now, most: MOST,
        told: `${name} ${now}`, go, at: part === "size" ? pulled : cell,
        by: (dx, dy) => now + dx + (part === "size" ? -dy : dy) }
    }
    return found
  }

  slide() {
    this.found = this.handles()
    for (const name in this.found) this.sliders[name] ??= this.slider(name)
    for (const [name, made] of Object.entries(this.sliders)) {
      const { x, y, width, height, label, now, most, told, press } = this.found[name] ?? {}
      made.hidden = !this.found[name]
      const values = { ariaValueMin: 0, ariaValueMax: most, ariaValueNow: now, ariaValueText: told }
      Object.assign(made, { ariaLabel: label, ...values })
      Object.assign(made.style, { left: `${x}px`, top: `${y}px`, width: `${width}px`, height: `${height}px` })
      made.classList.toggle("it-lab-press", Boolean(press))
    }
  }

  slider(name) {
    const made = Labs.element("span", { className: "it-lab-slider", role: "slider", tabIndex: 0 })
    let from
    const point = ({ clientX, clientY }) => {
      const { left, top } = this.stage.getBoundingClientRect(), { at, go, now } = this.found[name]
      const value = at(clientX - left, clientY - top, from)
      if (value !== now) go(value)
    }
    made.onpointerdown = ({ clientX, pointerId }) => {
      from = { x: clientX - this.stage.getBoundingClientRect().left, now: this.found[name].now }
      if (!this.found[name].press) made.setPointerCapture(pointerId)
    }
    made.onpointermove = (event) => made.hasPointerCapture(event.pointerId) && !this.found[name].press && point(event)
    made.onclick = (event) => this.found[name].press && (point(event), this.found[name].press())
    made.onkeydown = (event) => {
      const { by, go, press } = this.found[name]
      const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key]
      if (step || event.key === "Enter") event.preventDefault()
      if (step) go(by(...step))
      if (event.key === "Enter") press?.()
    }
    this.stage.append(made)
    return made
  }
}
})()
