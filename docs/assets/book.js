/* The copy button of each block. It takes the block, character by character, and nothing else. */

async function copy(text) {
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
  const code = target.closest(".highlight").querySelector("code")
  const done = await copy(code.textContent.replace(/\n$/, "")).then(() => "copied", () => "not allowed")
  target.textContent = done
  setTimeout(() => (target.textContent = "copy"), 2000)
})
