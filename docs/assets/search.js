/* What Material's search lacks. Loaded before its own script, which finds these in the place of the browser's. */

// The index is the book's largest file: it is fetched when a reader turns to the search, not with every page.
const wanted = new Promise((resolve) =>
  addEventListener("focusin", ({ target }) => target.matches(".md-search__input") && resolve()),
)
const { open, send } = XMLHttpRequest.prototype
XMLHttpRequest.prototype.open = function (method, address, ...rest) {
  this.isIndex = String(address).endsWith("search/search_index.json")
  open.call(this, method, address, ...rest)
}
XMLHttpRequest.prototype.send = function (...body) {
  if (this.isIndex) wanted.then(() => send.apply(this, body))
  else send.apply(this, body)
}

// A browser gives no worker to a page opened from a folder: there, a hidden frame does its work.
class FrameWorker extends EventTarget {
  constructor(address) {
    super()
    const frame = document.createElement("iframe")
    frame.hidden = true
    document.body.append(frame)
    this.inside = frame.contentWindow
    this.inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }))
    const script = frame.contentDocument.createElement("script")
    script.src = address
    this.loaded = new Promise((resolve) => (script.onload = resolve))
    frame.contentDocument.body.append(script)
  }

  postMessage(data) {
    this.loaded.then(() => this.inside.dispatchEvent(new MessageEvent("message", { data })))
  }
}

// Several words: what holds all of them, and only where nothing does, what holds some. An error message
// that is pasted is then found by all its words, and not by how often a page says "the". Only words are sent on:
// brackets, signs and quotation marks are the query language's own.
const QUERY = 2
const RESULT = 3
window.Worker = class extends (location.protocol === "file:" ? FrameWorker : Worker) {
  constructor(...given) {
    super(...given)
    this.addEventListener("message", (event) => {
      if (event.data.type !== RESULT || event.data.data.items.length || !this.asked) return
      event.stopImmediatePropagation()
      super.postMessage(this.asked)
      this.asked = undefined
    })
  }

  postMessage(message) {
    if (message.type !== QUERY) return super.postMessage(message)
    const words = message.data.split(/[^\p{L}\p{N}_]+/u).filter(Boolean)
    const some = { ...message, data: words.join(" ") }
    this.asked = words.length > 1 ? some : undefined
    super.postMessage(this.asked ? { ...some, data: `"${some.data}"` } : some)
  }
}
