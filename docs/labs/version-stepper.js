/* The version stepper: programs that save tensors and write to them, line by line. What each line did was recorded from
torch by inside_torch/labs/version_stepper.py, for all ways to switch the lines. */

(() => {
const { LETTER, Lab, cell, element, recordings, rectangle, said, toned } = Labs
const { listing, programs, steps, cards } = recordings["version-stepper"]

const listed = (words) => words.join(", ").replace(/, ([^,]*)$/, " and $1")
const shown = (numbers) => `[${numbers.join(", ")}]`
const firstOn = (program) => program.switches.replace(/[-x]/g, "1").replace(/ /g, "0")
const ends = (program, step) => step.line === program.lines.length // in its call of backward
const isWrong = ({ gradient, derivative }) => gradient?.some((one, i) => Math.abs(one - derivative[i]) > 1e-3)

/* The counters of a step, each with the numbers of its memory. */
const counters = (step) =>
  (step?.cards ?? []).flatMap((i) => cards[i].counters.map((one) => ({ ...one, numbers: String(cards[i].numbers) })))
const numbered = (numbers, x, y, tone) => numbers.map((one, i) => cell(x + 58 * i, y, 58, one, { height: 22, tone }))
const changed = (step) =>
  counters(step).flatMap(({ names: [name], version, saved }) =>
    saved.filter((one) => one[3] === "changed").map(([node, line, , , at]) => ({ name, version, node, line, at })))

class VersionStepper extends Lab {
  static title = "Version stepper"
  static more = "the program and its switches"
  static start = { program: "network", on: "", at: "3" }

  /* What the state says; what it says wrongly, as an address can, is as it was at the start. */
  get now() {
    const program = Object.hasOwn(programs, this.state.program) ? programs[this.state.program] : programs.network
    const on = Object.hasOwn(program.runs, this.state.on) ? this.state.on : firstOn(program)
    const run = program.runs[on].map((i) => steps[i])
    const at = /^\d+$/.test(this.state.at) ? Math.min(Number(this.state.at), run.length) : 0
    return { program, on, run, at, step: run[at - 1], before: run[at - 2], ended: at === run.length }
  }

  /* Another program begins before its first write. */
  set(changes) {
    const program = programs[changes.program]
    if (program && changes.program !== this.state.program) {
      const lines = firstOn(program).slice(0, program.switches.indexOf("x"))
      changes = { ...changes, on: "", at: String(lines.replaceAll("0", "").length) }
    }
    super.set(changes)
  }

  /* Switches a line. Who has seen the end sees the new end, others stay at their line. */
  turn(i) {
    const { program, on, step, ended } = this.now
    const other = on.slice(0, i) + (on[i] === "1" ? "0" : "1") + on.slice(i + 1)
    const at = program.runs[other].filter((one) => ended || steps[one].line <= (step?.line ?? 0)).length
    this.set({ on: other === firstOn(program) ? "" : other, at: String(at) })
  }

  controls() {
    return [this.steps("at", () => this.now.run.length)]
  }

  settings() {
    const options = Object.entries(programs).map(([value, one]) => ({ value, said: one.said }))
    this.lines = element("ol", { className: "it-lab-lines" })
    return [this.choice("program", "program", options), this.lines]
  }

  draw() {
    const { program, on, at, step, ended } = this.now
    this.state.program = Object.keys(programs).find((name) => programs[name] === program)
    this.state.at = String(at)
    if (this.listed !== program) this.list(program)
    const verdict = step?.refused ? "refused" : isWrong(step ?? {}) ? "wrong" : "runs"
    this.rows.forEach(({ row, box, mark }, i) => {
      row.classList.toggle("it-off", on[i] === "0")
      row.classList.toggle("it-in", i > 0 && program.lines[0].endsWith(":") && on[0] === "1")
      row.ariaCurrent = step?.line === i + 1 ? "step" : null
      if (box) box.checked = on[i] === "1"
      mark.textContent = ended && step.line === i + 1 ? verdict : ""
    })
    super.draw()
  }

  list(program) {
    this.listed = program
    this.rows = program.lines.map((code, i) => {
      const onchange = () => this.turn(i)
      const box = program.switches[i] === "-" ? "" : element("input", { type: "checkbox", onchange })
      const text = element("code", { textContent: code }), mark = element("strong")
      return { row: element("li", {}, element(box ? "label" : "span", {}, box, text), mark), box, mark }
    })
    this.lines.replaceChildren(...this.rows.map(({ row }) => row))
  }

  drawn(room) {
    const { program, step } = this.now
    const width = Math.min(room, 460)
    if (!step) return { shapes: [said(0, 18, "No line has run yet.", "it-note")], width: room, height: 28 }
    const shapes = [said(width - 6, 14, "version", "it-note", "end")]
    const ran = `${step.line}: ${program.lines[step.line - 1]}` // the list of lines is folded
    if (this.box.matches(".it-narrow")) shapes.push(said(10, 14, ran, "it-name", "start", width - 74))
    let y = 22
    for (const card of step.cards.map((i) => cards[i])) {
      const top = y
      card.counters.forEach((one, i) => {
        shapes.push(this.counter(one, i ? "same memory" : card.numbers, y, width))
        y += 34 + 23 * one.saved.length
      })
      shapes.push(rectangle(0.5, top, width - 1, y - top, "it-edge", 6))
      y += 7
    }
    if (step.gradient) {
      const wrong = isWrong(step)
      shapes.push(said(0, y + 14, `${program.asks} is ${wrong ? "" : "right:"}`, "it-name"))
      shapes.push(numbered(step.gradient, 0, y + 21, wrong ? 1 : 0))
      if (wrong) shapes.push(said(0, y + 66, "by finite differences it is", "it-name"))
      if (wrong) shapes.push(numbered(step.derivative, 0, y + 73))
      y += wrong ? 104 : 52
    }
    const idle = step.idle.length ? `Saved no tensor: ${[...new Set(step.idle)].join(", ")}` : ""
    for (const text of idle.match(new RegExp(`.{1,${Math.floor(width / 6.8)}}( |$)`, "g")) ?? []) {
      shapes.push(said(0, y + 14, text, "it-note"))
      y += 18
    }
    return { shapes, width: room, height: y + 4 }
  }

  /* A counter: who shares it and where it stands, and below it who saved at which version. */
  counter({ names, version, saved }, numbers, y, width) {
    const right = width - 46, x = Math.max(84, names.join(", ").length * LETTER + 20)
    const middle = Array.isArray(numbers) ? numbered(numbers, x, y + 6) : said(x, y + 21.5, numbers, "it-note")
    const centred = (text, y, kind) => said(right + 19, y, text, kind, "middle")
    const count = [rectangle(right, y + 5, 38, 24, "it-pill", 4), centred(version, y + 21.5, "it-name")]
    const rows = saved.map(([node, line, name, how, at], i) => {
      const low = y + 34 + 23 * i, unlike = how === "changed"
      const box = rectangle(right + 2, low - 2, 34, 20, unlike ? "it-element" : "it-tab")
      const then = [box, centred(unlike ? `≠ ${at}` : at, low + 12.5, unlike ? "it-name" : "it-value")]
      const words = `${node} (line ${line}) ${{ freed: "freed", copy: "copied" }[how] ?? "saved"} ${name}`
      if (how === "freed") return said(12, low + 13, words, "it-label")
      return [said(12, low + 13, `${words} at`, "it-label"), unlike ? toned(1, then) : then]
    })
    return [said(10, y + 21.5, names.join(", "), "it-name"), middle, count, rows]
  }

  said() {
    const { program, on, step, before, ended } = this.now
    if (!step) return "No line has run yet. Press next."
    const late = changed(ended ? before : step).map(({ name, version, node, line, at }) =>
      `${node} (line ${line}) saved ${name} at version ${at}, and ${name} is at version ${version}`).join("; ")
    const torch = `\nPyTorch says: ${step.refused}`
    if (step.refused && !ends(program, step)) return `Line ${step.line} itself is refused.${torch}`
    if (step.refused) return `Backward refuses: ${late}.${torch}`
    const found = `Backward runs, and ${program.asks} is`
    if (ended && isWrong(step)) return `${found} wrong: ${shown(step.gradient)}. By finite differences it is ` +
      `${shown(step.derivative)}. A saved tensor was overwritten, but its version did not change.`
    if (ended) return `${found} right: ${shown(step.gradient)}, the same as by finite differences.`
    const kept = counters(step).flatMap(({ names: [name], saved }) =>
      saved.filter((one) => one[1] === step.line).map(([node, , , , at]) => [node, `${name} at version ${at}`]))
    const weight = kept.some(([, what]) => what.includes(".weight at version 1"))
    const filled = weight && "A weight of nn.Linear begins at version 1, because its initialization writes in place."
    const nodes = [...new Set(kept.map(([node]) => node))]
    const by = (node) => kept.filter(([of]) => of === node).map(([, what]) => what)
    const told = nodes.map((node) => `${node} saved ${listed(by(node))}.`)
    const copied = counters(step).flatMap(({ names: [name], saved }) =>
      saved.filter((one) => one[3] === "copy").map(([node]) => `${node} has a copy of ${name} from before the write.`))
    const next = program.lines.findIndex((_, i) => i >= step.line && on[i] === "1")
    const asked = `Next is line ${next + 1}, ${program.lines[next]}${next + 1 === on.length ? ": will it run?" : "."}`
    return [this.wrote(step, before), ...told, filled, ...copied, late && `${late}.`, asked].filter(Boolean).join(" ")
  }

  /* What the line wrote to: where a count rose, and where numbers changed under a count that did not. */
  wrote(step, before) {
    const old = new Map(counters(before).map((one) => [one.names[0], one]))
    const known = counters(step).filter(({ names }) => old.has(names[0])).map((one) => [one, old.get(one.names[0])])
    const up = known.filter(([one, was]) => one.version > was.version)
    const missed = known.filter(([one, was]) => one.version === was.version && one.numbers !== was.numbers)
    const said = up.map(([{ names, version }]) =>
      `Line ${step.line} wrote to ${listed(names)}${names[1] ? ", which share a counter" : ""}: version ${version}.`)
    const fused = this.now.program.lines[step.line - 1].includes("fused=True")
    const why = fused ? ", because the fused kernel writes itself and calls no operator that counts" : ""
    const where = up.length ? "In the same memory, " : `Line ${step.line} changed numbers, but no count rose${why}: `
    const stayed = missed.map(([{ names, version }]) => `${where}${listed(names)} stayed at version ${version}.`)
    return [...said, ...stayed].join(" ")
  }

  program() {
    const { program, on, step, ended } = this.now
    const names = counters(step).flatMap((one) => one.names)
    const pad = program.lines[0].endsWith(":") && on[0] === "1" ? "    " : ""
    const lines = program.lines.slice(0, step?.line ?? 0).map((code, i) => (on[i] === "1" ? code : `# ${code}`))
    const [first, ...rest] = ended ? lines.slice(0, -1) : lines
    const print = `    print("${program.asks}:", [round(one, 4) for one in ${program.asks}.tolist()])`
    const handled = ["except RuntimeError as error:", "    print(error)"]
    const last = ["try:", `    ${lines.at(-1)}`, ends(program, step ?? {}) ? [print] : [], ...handled]
    const graph = ["seen = set()", `for one in [${names.join(", ")}]:`, "    saved(one.grad_fn, seen)"]
    const versions = `print({${names.map((name) => `"${name}": ${name}._version`).join(", ")}})`
    const body = [...rest, ...(ended ? last.flat() : graph), versions].map((code) => pad + code)
    const head = ["import re", "", "import torch", program.setup, "", ended ? [] : ["", listing, ""], first ?? []]
    return [...(ended ? head.slice(2) : head).flat(), ...body].join("\n")
  }
}

customElements.define("version-stepper", VersionStepper)
})()
