/* The copy button of each block. It takes the block, character by character, and nothing else. */

async function copyText(text) {
  if (navigator.clipboard) return navigator.clipboard.writeText(text)
  const area = document.createElement("textarea") // a page opened over plain http has no clipboard
  area.value = text
  document.body.append(area)
  area.select()
  const copied = document.execCommand("copy")
  area.remove()
  if (!copied) throw new Error("the browser refused to copy")
}

document.addEventListener("click", async ({ target }) => {
  if (!target.matches(".it-copy")) return
  const box = target.closest(".it-source, .highlight") // what is folded away belongs to the block
  const code = [...box.querySelectorAll(".highlight code, :scope > pre code")].map((one) => one.textContent).join("")
  const done = await copyText(code.replace(/\n$/, "")).then(() => "copied", () => "not allowed")
  target.textContent = done
  setTimeout(() => (target.textContent = "copy"), 2000)
})

/* What scrolls sideways is marked while more of it lies at the right; code that does can be reached by keyboard. */
const isCut = (box) => box.scrollWidth - box.clientWidth - box.scrollLeft > 2
const mark = (boxes) => {
  // All are read before the first mark, which makes every later reading slow.
  const read = boxes.map((box) => [box, isCut(box), box.scrollWidth > box.clientWidth])
  for (const [box, cut, scrolls] of read) {
    box.classList.toggle("it-cut", cut)
    if (box.localName === "code") scrolls ? (box.tabIndex = 0) : box.removeAttribute("tabindex")
  }
}
const measure = new ResizeObserver((seen) => mark(seen.map(({ target }) => target)))
for (const box of document.querySelectorAll(".highlight code, .it-output > pre, .it-scroll")) {
  measure.observe(box)
  box.addEventListener("scroll", () => mark([box]), { passive: true })
}

/* Beside each section's heading a link to report a mistake in it, where the page has one for the whole of it. */
const report = document.querySelector(".it-report")
for (const heading of report ? document.querySelectorAll(".md-content :is(h2, h3)[id]") : []) {
  const link = report.cloneNode()
  const address = new URL(report.href)
  const section = heading.textContent.replace(/#$/, "")
  const body = address.searchParams.get("body").replace(/^Section: .*$/m, () => `Section: ${section} (#${heading.id})`)
  address.searchParams.set("body", body)
  link.className = "headerlink it-wrong-here"
  link.href = address
  link.textContent = "!"
  link.title = link.ariaLabel = "Report a mistake in this section"
  heading.append(link)
}

/* The title of a link, for whoever comes to it by keyboard: browsers show titles to a pointer only. A link to the place
   where it stands needs none. The theme's own tooltips would measure every title when a page loads. */
let tip
document.addEventListener("focusin", ({ target }) => {
  if (!target.matches("article a[title]:not(.headerlink, .it-link):focus-visible")) return
  tip = Object.assign(document.createElement("div"), { className: "it-tip", role: "tooltip", textContent: target.title })
  document.body.append(tip)
  const { left, bottom } = target.getBoundingClientRect()
  const most = document.documentElement.clientWidth - tip.offsetWidth - 16
  tip.style.left = `${scrollX + Math.max(16, Math.min(left, most))}px`
  tip.style.top = `${scrollY + bottom + 6}px`
})
document.addEventListener("focusout", () => tip?.remove())
document.addEventListener("keydown", ({ key }) => key === "Escape" && tip?.remove())

/* How many items of some chapters are ticked, or how many chapters have no other: quiz.js ticks them, and then says how
   many there are. */
const boxes = (name) => [...document.querySelectorAll(`[data-chapter="${name}"] input`)]
const counts = [...document.querySelectorAll(".it-count")].map((count) => [count, count.dataset.of.split(" ").map(boxes)])
const ticked = () => {
  const isDone = ({ checked }) => checked
  for (const [count, chapters] of counts) {
    const whole = count.dataset.unit === "chapter"
    const done = whole ? chapters.filter((items) => items.every(isDone)) : chapters.flat().filter(isDone)
    count.textContent = `${done.length} of `
    count.classList.toggle("it-some", done.length > 0)
  }
}
for (const said of document.querySelectorAll(".it-progress output")) new MutationObserver(ticked).observe(said, { childList: true })

/* A lab is a figure until its button is pressed, or until an address leads into it. What it takes is loaded then. */
const labs = new URL("../labs/", document.currentScript.src)
const loaded = (file) =>
  new Promise((onload, onerror) => {
    const kind = file.endsWith(".css") ? ["link", { rel: "stylesheet", href: labs + file }] : ["script", { src: labs + file }]
    document.head.append(Object.assign(document.createElement(kind[0]), kind[1], { onload, onerror }))
  })
for (const lab of document.querySelectorAll(".it-lab")) {
  const button = lab.querySelector(".it-lab-open button")
  button.onclick = async () => {
    button.disabled = true
    for (const file of lab.dataset.files.split(" ")) await loaded(file)
  }
  if (new URLSearchParams(location.search).get("lab") === lab.id) button.click()
}
