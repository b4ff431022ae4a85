/* Which sections of the book answer a query; search.js shows them. */

// What says nothing about a section: the small words of a question, and what stands around a message.
const COMMON = new Set(
  `a about an and are as at be but by can do does for from get had has have how i if in into is isn it its me my of
  on or our should so t than that the their them then there these they this to up use versus vs was we were what
  when where which who why will with would you your`.split(/\s+/),
)
const AROUND = [
  /Traceback \(most recent.*(?=\b\w+(Error|Exception|Warning): )/gs,
  /\[rank\d+\]:/g,
  /\[?\b[VIWEF]\d{4} [\d:.]+ \d+ [^\]]*\](\s?\[[\w/]+\])*/g, // V0101 12:00:00.0 123 torch/fx/graph.py:12] [0/1]
  /\b[\w.]*(Error|Exception|Warning): /g,
]
const wordsOf = (text) => text.toLowerCase().match(/c\+\+|[\w\u0370-\u03ff]+/g) ?? []
const isTelling = (word) => !COMMON.has(word) && !/^\d/.test(word)
const stemOf = (word) => word.replace(/(?<=[a-z]{3})(ing|ed|es|s)$/, "").replace(/(?<=[a-z]{2})e$/, "")

// How many letters to add, drop or exchange between two words; 3 for three and more.
function distance(a, b) {
  let row = [...Array(b.length + 1).keys()]
  for (let i = 1; i <= a.length && Math.min(...row) < 3; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++)
      next[j] = Math.min(row[j] + 1, next[j - 1] + 1, row[j - 1] + (a[i - 1] !== b[j - 1]))
    row = next
  }
  return Math.min(3, ...row.slice(-1))
}

// The words of the book, each with its stem and with the sections that hold it: how much it says of them (BM25).
function indexed(sections) {
  const vocabulary = new Map()
  for (const [field, boost] of Object.entries({ text: 1, title: 2, terms: 2 })) {
    const found = sections.map((section) => wordsOf(String(section[field])))
    const average = found.flat().length / sections.length
    sections.forEach((section, i) => {
      const long = 0.3 + (0.7 * found[i].length) / average
      const counts = new Map()
      for (const word of found[i]) counts.set(word, (counts.get(word) ?? 0) + 1)
      for (const [word, count] of counts) {
        if (!vocabulary.has(word)) vocabulary.set(word, { word, stem: stemOf(word), says: new Map() })
        const { says } = vocabulary.get(word)
        says.set(section, (says.get(section) ?? 0) + (boost * count) / (count + 1.2 * long))
      }
    })
  }
  return { sections, vocabulary: [...vocabulary.values()] }
}

// The book's words that are meant by one: those of its stem, and longer ones while it is typed.
function formsOf(word, vocabulary, isTyped) {
  const stem = stemOf(word)
  return vocabulary.filter((one) => one.stem === stem || (isTyped && one.word.startsWith(word)))
}

// The book's word that is spelled most like one, the more frequent of two; none for short words and numbers.
function likeliest(word, vocabulary) {
  const allowed = word.length < 3 || /\d/.test(word) ? 0 : word.length < 6 ? 1 : 2
  const near = vocabulary
    .filter((one) => Math.abs(one.word.length - word.length) <= allowed && !/\d/.test(one.word))
    .map((one) => ({ ...one, letters: distance(word, one.word) }))
    .filter(({ letters }) => letters <= allowed)
  return near.sort((a, b) => a.letters - b.letters || b.says.size - a.says.size)[0]?.word
}

// The sections for a query, best first. A rare word counts more than a frequent one, a section of just this title more,
// or where the one begins with the other, and three words of it; and one that defines just this term most. `instead`:
// for each word that is nowhere in the book, what was sought.
function ranked(index, query) {
  const message = wordsOf(AROUND.reduce((text, around) => text.replace(around, " "), query))
  const telling = message.some(isTelling) ? message.filter(isTelling) : wordsOf(query)
  const instead = new Map()
  for (const word of telling) {
    const isKnown = formsOf(word, index.vocabulary, word === telling.at(-1)).length > 0
    if (!isKnown) instead.set(word, likeliest(word, index.vocabulary))
  }
  const sought = telling.map((word) => (instead.has(word) ? instead.get(word) : word)).filter(Boolean)
  const results = new Map()
  for (const word of new Set(sought)) {
    const best = new Map()
    for (const one of formsOf(word, index.vocabulary, word === sought.at(-1)))
      for (const [section, says] of one.says) {
        const score = says * (one.word === word ? 1 : 0.8)
        if (!(best.get(section)?.score >= score)) best.set(section, { score, word: one.word })
      }
    for (const [section, { score, word }] of best) {
      if (!results.has(section)) results.set(section, { section, score: 0, words: [] })
      results.get(section).score += score * Math.log(1 + index.sections.length / best.size)
      results.get(section).words.push(word)
    }
  }
  const tellingOf = (name) => wordsOf(name).filter(isTelling).join()
  const isJust = (name) => tellingOf(name) === sought.join()
  const begins = (one, other) => one.split(",").length > 2 && other.startsWith(one)
  const isBegun = (name) => begins(tellingOf(name), sought.join()) || begins(sought.join(), tellingOf(name))
  for (const result of results.values())
    result.score *= result.section.terms.some(isJust) ? 9 : isJust(result.section.title) ? 3 : isBegun(result.section.title) ? 2 : 1
  return { results: [...results.values()].sort((a, b) => b.score - a.score), instead }
}
