/* The search box, and the words that were sought on the page that was found. The answer is computed here, at once, so
that no older one can come after a newer one. What it takes, the sections and ranking.js, is loaded when a reader turns
to the box; the sections are a script, which a page in a folder can load as well. */

const element = (tag, attributes, ...children) => {
  const made = Object.assign(document.createElement(tag), attributes)
  made.append(...children)
  return made
}
const anyOf = (words) => {
  const escaped = words.map((word) => word.replace(/\W/g, "\\$&"))
  return new RegExp(`(?<!\\w)(${escaped.join("|")})(?!\\w)`, "gi")
}
const marked = (text, words) =>
  text.split(anyOf(words)).map((piece, i) => (i % 2 ? element("mark", {}, piece) : piece))

function markFound(article, words) {
  const walker = document.createTreeWalker(article, NodeFilter.SHOW_TEXT)
  const texts = []
  while (walker.nextNode()) texts.push(walker.currentNode)
  for (const text of texts)
    if (text.data.search(anyOf(words)) >= 0 && !text.parentElement.closest("svg, math, button, script, style"))
      text.replaceWith(...marked(text.data, words))
}

// The part of a text in which most of the words stand.
function part(text, words) {
  const found = [...text.matchAll(anyOf(words))]
  const near = ({ index }) => found.filter((one) => one.index >= index && one.index < index + 140)
  const held = (place) => new Set(near(place).map(([word]) => word.toLowerCase())).size
  const best = found.reduce((best, one) => (best && held(best) >= held(one) ? best : one), undefined)
  const start = Math.max(0, (best?.index ?? 0) - 30)
  return `${start ? "… " : ""}${text.slice(start, start + 200).replace(/^\S+ |\s\S*$/g, "")} …`
}

function item({ section, words }, pageTitle, base) {
  const address = new URL(section.location, base)
  address.searchParams.set("h", words.join(" "))
  return element(
    "li",
    { className: "md-search-result__item" },
    element(
      "a",
      { className: "md-search-result__link", href: address.href },
      element("strong", {}, ...marked(section.title, words)),
      pageTitle === section.title ? "" : ` ${pageTitle}`,
      element("p", {}, ...marked(part(section.text, words), words)),
    ),
  )
}

function startSearch(box) {
  const [input, output, said, list] = box.querySelectorAll("input, .md-search__output, [role=status], ol")
  const toggle = document.getElementById("__search") // the theme's: its styles show the box as open while it is checked
  const root = new URL(box.dataset.root, location.href)
  const load = (address) =>
    new Promise((onload, onerror) => {
      document.head.append(element("script", { src: new URL(address, root), onload, onerror }))
    })
  let loaded, index

  function answer() {
    const { results, instead } = index && input.value.trim() ? ranked(index, input.value) : { results: [], instead: [] }
    const pages = new Map(index?.sections.map(({ location, title }) => [location, title]))
    const page = ({ section }) => pages.get(section.location.split("#")[0]) ?? ""
    list.replaceChildren(...results.slice(0, 30).map((one) => item(one, page(one), root)))
    const nowhere = [...instead].slice(0, 3).map(([word, other]) =>
      `“${word}” is not in the book${other ? `; these have “${other}”` : ""}. `)
    if (!input.value.trim()) said.textContent = "Type to search"
    else if (!index) said.textContent = "Loading …"
    else said.textContent = `${nowhere.join("")}${results.length} section${results.length === 1 ? "" : "s"} found`
  }

  const start = () =>
    Promise.all([load("assets/ranking.js"), load("search/sections.js")]).then(
      () => answer((index = indexed(bookSections))),
      () => (said.textContent = "The index could not be loaded"),
    )

  input.addEventListener("focus", () => {
    loaded ??= start()
    if (!toggle.checked) toggle.click()
  })
  input.addEventListener("input", answer)
  input.form.addEventListener("reset", () => {
    input.value = ""
    input.focus()
    answer()
  })
  input.form.addEventListener("submit", (event) => {
    event.preventDefault()
    list.querySelector("a")?.click()
  })
  toggle.addEventListener("change", () => {
    output.hidden = !toggle.checked
    if (toggle.checked) input.focus()
    else if (box.contains(document.activeElement)) document.activeElement.blur()
  })
  box.addEventListener("focusout", ({ relatedTarget }) => {
    if (toggle.checked && relatedTarget && !box.contains(relatedTarget)) toggle.click()
  })
  box.addEventListener("keydown", (event) => {
    const stops = [input, ...list.querySelectorAll("a")]
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step) event.preventDefault()
    if (step) stops[stops.indexOf(document.activeElement) + step]?.focus()
    if (event.key === "Escape") toggle.click()
  })
  document.addEventListener("keydown", (event) => {
    if (!"/sf".includes(event.key) || event.ctrlKey || event.metaKey || event.altKey) return
    if (event.target.matches("input, textarea, select, [contenteditable]")) return
    event.preventDefault()
    input.focus()
  })
}

const landedBy = (new URLSearchParams(location.search).get("h") ?? "").split(" ").filter(Boolean)
if (landedBy.length) document.querySelectorAll("article.md-content__inner").forEach((one) => markFound(one, landedBy))
document.querySelectorAll(".md-search__inner").forEach(startSearch)
