/* The lab of docs/backward.md: runs of backward that inside_torch/labs/backward_replay.py recorded, step by step. */

(() => {
const { LETTER, Lab, element, rectangle, said, shape, toned } = Labs
const ROOM = 560 // px from which a row has a second column
const brief = (text) => text.replace(/(: [^,]+, [^,]+), .*/, "$1, …") // the first two values

class Replay extends Lab {
  static title = "Backward, step by step"
  static more = "another graph"
  static start = { graph: "ten", swap: "false", inputs: "false", step: "0" }

  controls() {
    return [this.steps("step", () => this.run.steps.length)]
  }

  settings() {
    this.ticks = { swap: this.tick("", "swap"), inputs: this.tick("", "inputs") }
    this.addEventListener("drawn", () => this.retick())
    return [this.choice("graph of", "graph", this.recording.scenarios), ...Object.values(this.ticks)]
  }

  /* What can be switched has a word on what it switches. */
  retick() {
    const { swap, asked } = this.scenario
    const inputs = asked ? `only inputs=[${asked}]` : "inputs="
    const words = { swap: swap ? `swap ${swap}` : "swap two lines", inputs }
    for (const [name, label] of Object.entries(this.ticks)) {
      label.lastChild.data = words[name]
      label.firstChild.disabled = !this.scenario[name === "swap" ? "swap" : "asked"]
    }
  }

  foot() {
    const foot = super.foot()
    const how = "The order, the gradients, what is freed and .grad were seen by hooks while torch ran. The ready " +
      "queue and the counts are computed by the engine's rule; the order that follows was checked against the hooks. " +
      "Of two that are ready with the same number, the rule does not say which is first: no program here has such two."
    foot.prepend(element("p", { className: "it-lab-how", textContent: how }))
    return foot
  }

  /* Another graph begins at its first step, without switches that it has not. */
  set(changes) {
    const started = ["graph", "swap", "inputs"].some((name) => name in changes && !("step" in changes))
    if ("graph" in changes) Object.assign(changes, { swap: "false", inputs: "false", ...changes })
    super.set(started ? { ...changes, step: "0" } : changes)
  }

  get scenario() {
    const { scenarios } = this.recording
    return scenarios.find((one) => one.value === this.state.graph) ?? scenarios[0]
  }

  get run() {
    const { value, swap, asked } = this.scenario
    const on = (name, able) => (able && this.state[name] === "true" ? ` ${name}` : "")
    return this.recording.runs[value + on("swap", swap) + on("inputs", asked)]
  }

  /* The step of the state, a number that the run has. */
  get at() {
    return Math.max(0, Math.min(this.run.steps.length, Math.floor(Number(this.state.step)) || 0))
  }

  /* What the engine has after so many steps: for each node how many gradients arrived and the sums by input. */
  get engine() {
    const { nodes, edges, steps, queue } = this.run
    const found = nodes.map(() => ({ arrived: 0, sums: {}, ran: 0 }))
    for (const i of queue) found[i].sums[0] = "1"
    for (const [k, step] of steps.slice(0, this.at).entries()) {
      Object.assign(found[step.node], { ran: k + 1, sums: {}, grad: step.grad?.[1] })
      for (const [edge, , sum] of step.sent) {
        found[edges[edge][1]].arrived++
        found[edges[edge][1]].sums[edges[edge][2]] = sum
      }
    }
    const ready = this.at ? steps[this.at - 1].queue : queue
    return { found, ready }
  }

  /* A node as a sentence names it. */
  named(i) {
    const [name, number, , leaf] = this.run.nodes[i]
    const alike = this.run.nodes.filter((one) => one[0] === name).length > 1
    return leaf ? `the AccumulateGrad of ${leaf}` : name + (alike ? ` (sequence number ${number})` : "")
  }

  drawn(width) {
    const { nodes, steps, call } = this.run
    const wide = width >= ROOM
    const place = this.run[wide ? "wide" : "narrow"]
    const { found, ready } = this.engine
    const queue = this.queue(ready, width)
    const queues = [this.run.queue, ...steps.map((one) => one.queue)].map((one) => this.queue(one, width).rows)
    const top = 30 + 28 * Math.max(...queues)
    const left = place.width + (wide ? 18 : 11)
    const shapes = [said(4, 16, "ready queue, largest sequence number first", "it-note"), ...queue.shapes]
    const inside = place.bands.flatMap(([y, low, texts]) => [
      rectangle(0.5, y + 0.5, width - 1, low - y + 13, "it-ground", 6),
      ...texts.map((text, k) => said(left, y + 17 + 17 * k, text)),
    ])
    const carried = new Set(steps.slice(0, this.at).flatMap((step) => step.sent.map(([edge]) => edge)))
    const head = (x, y) => shape("path", { class: "it-head", d: "M0 0L-4 7H4Z", transform: `translate(${x} ${y})` })
    const ways = place.edges.map(([d, x, y], edge) =>
      toned(carried.has(edge) ? 1 : 3, shape("path", { class: "it-line", d }), head(x, y)))
    const graph = nodes.map((_, i) => this.node(i, place.nodes[i], left - 6, width - 6, found[i], ready.includes(i)))
    inside.push(shape("g", { transform: "translate(6)" }, ways, graph))
    const calls = call.length * LETTER < width - 8 ? [call] : call.split(/(?<=backward\()/)
    inside.push(...calls.map((text, k) => said(k ? 26 : 10, place.height + 27 + 17 * k, text)))
    shapes.push(shape("g", { transform: `translate(0 ${top})` }, ...inside))
    const height = top + place.height + 20 + 17 * calls.length
    return { shapes, height }
  }

  /* The ready queue, and how many rows of them there are. */
  queue(ready, width) {
    let x = 4, row = 0
    const shapes = ready.flatMap((i, place) => {
      const [name, number, , leaf] = this.run.nodes[i]
      const text = `${name} ${leaf || number}`
      const wide = text.length * LETTER + 20
      if (x > 4 && x + wide > width - 4) [x, row] = [4, row + 1]
      const y = 24 + 28 * row
      const made = [toned(2, rectangle(x, y, wide, 22, "it-fill")), said(x + 10, y + 16, text)]
      x += wide + 10
      return made
    })
    return { shapes: ready.length ? shapes : [said(4, 40, "empty", "it-note")], rows: row + 1 }
  }

  /* A node: its mark with the number at which it runs, its name, and what is to say of it now. */
  node(i, [x, y, w], left, width, { arrived, sums, ran, grad }, ready) {
    const [name, number, , leaf, saved, needed, again] = this.run.nodes[i]
    const runs = this.run.steps.findIndex((step) => step.node === i) + 1
    const edges = this.run.edges.filter((one) => one[1] === i).length
    const mark = rectangle(x - w / 2, y - 10, w, 20, ran || ready || !needed ? "it-element" : "it-tab")
    const tone = ran ? 1 : ready ? 2 : 3
    const shapes = [toned(tone, mark, said(x, y + 5, runs || "–", "it-step", "middle"))]
    if (ran && ran === this.at) shapes.push(toned(1, rectangle(x - w / 2 - 3, y - 13, w + 6, 26, "it-line")))
    const state = !needed ? "does not run" : ran ? "ran" : ready ? "ready" : `waits: ${arrived} of ${edges}`
    const held = Object.values(sums).map(brief).join("; ")
    const kept = saved.length ? `${ran ? "freed" : again ? "recomputes" : "saves"} ${saved.join(", ")}` : ""
    const keeps = leaf ? `.grad ${brief(grad ?? this.run.grads[leaf])}` : kept
    shapes.push(said(left, y - 2, leaf ? `${name} ${leaf}` : width < ROOM - 6 ? `${name} ${number}` : name))
    if (width >= ROOM - 6) {
      shapes.push(said(left, y + 15, `${leaf ? "largest number" : `sequence number ${number}`}, ${state}`, "it-note"))
      shapes.push(said(350, y - 2, held && `holds ${held}`), said(350, y + 15, keeps, grad ? "it-value" : "it-note"))
      return shapes
    }
    const room = (width - 2 - left) / LETTER
    const texts = held ? [`${state.replace("waits: ", "")}, ${held}`, held] :
      grad ? [keeps] : [keeps ? `${state}, ${keeps}` : state,
        `${state}, ${saved.length} ${ran ? "freed" : again ? "recomputed" : "saved"}`]
    texts.push(...texts.map((text) => text.replace(/, [-.\d]+(, …)?$/, ", …"))) // the first value alone
    const text = texts.find((one) => one.length <= room) ?? texts.at(-1), kind = held || grad ? "it-value" : "it-note"
    shapes.push(said(left, y + 15, text, kind, "start", width - 2 - left))
    return shapes
  }

  said() {
    const { nodes, steps } = this.run
    const { ready, found } = this.engine
    const out = nodes.filter((one) => !one[5]).length
    const leaves = out ? `, and ${out} do not, because they lead only to leaves that inputs= does not name` : ""
    if (!this.at) {
      const from = ready.map((i) => this.named(i)).join(" and ")
      const have = ready.length > 1 ? "have" : "has"
      return `Backward begins: ${from} ${have} the gradient 1. ${steps.length} nodes will run${leaves}.`
    }
    const step = steps[this.at - 1]
    const { node, sent, grad, printed } = step
    const values = sent.map(([, value]) => value), whole = !values.some((value) => value.endsWith("…"))
    const upper = (text) => text[0].toUpperCase() + text.slice(1)
    const sum = grad && grad[0] !== "None" ? ", the sum of that and of what came" : ""
    const slice = nodes[node][0] === "CopySlices" ? ": the write was to a view, and its part alone changed" : ""
    const did = grad ? `wrote ${nodes[node][3]}.grad, which was ${grad[0]} and is ${grad[1]}${sum}` :
      `sent ${whole ? values.join(" and ") : sent.length === 1 ? "a gradient" : `${sent.length} gradients`}${slice}` +
      (nodes[node][4].length ? `, and what ${nodes[node][6] ? "was recomputed" : "it saved"} is freed` : "")
    const again = printed ? " While it ran, forward ran again: f printed its line a second time." : ""
    const short = [...new Set(sent.map(([edge]) => this.run.edges[edge][1]))].filter((to) => !ready.includes(to))
    const waits = short.map((to) => ` ${upper(this.named(to))} has ${found[to].arrived} of ` +
      `${this.run.edges.filter((one) => one[1] === to).length} gradients and waits.`).join("")
    const why = ready.length && nodes[ready[0]][3] ? ": no number is larger than that of an AccumulateGrad." : "."
    const largest = `which has the largest sequence number of the ${ready.length} that are ready${why}`
    const next = !ready.length ? ` Backward is done: ${steps.length} nodes ran${leaves.replace("do not", "did not")}.` :
      ` Next is ${this.named(ready[0])}, ${ready.length > 1 ? largest : "the only one that is ready."}`
    return `${upper(this.named(node))} ran and ${did}${did.endsWith("…") ? "" : "."}${again}${waits}${next}`
  }

  program() {
    const { lines, roots, call } = this.run
    const { hooks, end } = this.recording
    return `import torch\n${this.scenario.setup}\n${lines.join("\n")}\nroots = ${roots}\n\n${hooks}\n${call}\n${end}`
  }
}

customElements.define("backward-replay", Replay)
})()
