// Quizzes: judge an answer and keep it. One entry of this browser's storage, {quiz: answer}; nothing is sent.
(() => {
  "use strict";
  const KEY = "inside-pytorch-quizzes";
  const ID = /^[0-9a-f]{12}$/;
  const quizzes = [...document.querySelectorAll(".it-quiz")];
  const items = document.querySelectorAll(".it-item input");
  const panel = document.querySelector(".it-progress");
  if (!panel) return;
  const said = panel.querySelector("output");
  const rest = said.textContent.slice(1);
  let kept = "{}"; // without storage, answers last as long as the page

  const valid = (pair) => pair.every((id) => ID.test(id));
  const parse = (text) => Object.fromEntries(Object.entries(JSON.parse(text) ?? {}).filter(valid));

  const read = () => {
    try {
      return parse(localStorage.getItem(KEY));
    } catch {
      return parse(kept);
    }
  };

  const write = (answers) => {
    kept = JSON.stringify(answers);
    try {
      if (kept === "{}") localStorage.removeItem(KEY);
      else localStorage.setItem(KEY, kept);
    } catch {}
    show();
  };

  // The reason for the answer at the same place of the list; its class says whether it is right.
  const reason = (quiz, input) =>
    quiz.querySelectorAll(":scope > details li")[[...quiz.querySelectorAll("input")].indexOf(input)];

  function show() {
    const answers = read();
    let right = 0;
    for (const quiz of quizzes)
      for (const input of quiz.querySelectorAll("input")) {
        const chosen = answers[input.name] === input.value;
        const { className } = reason(quiz, input);
        if (chosen) input.checked = true;
        if (!(input.name in answers)) input.checked = false;
        input.closest("label").className = chosen ? className : "";
        right += chosen && className === "it-right";
      }
    for (const item of items) right += item.checked = answers[item.name] === item.value;
    said.textContent = right + rest;
  }

  function answer(input) {
    const quiz = input.closest(".it-quiz");
    const verdict = quiz.querySelector(".it-verdict");
    const why = reason(quiz, input).cloneNode(true);
    verdict.className = "it-verdict " + why.className;
    verdict.replaceChildren(...why.childNodes);
    quiz.querySelector(":scope > details").open = true;
    write({ ...read(), [input.name]: input.value });
  }

  // An arrow key clicks each radio that it reaches: only other clicks answer.
  let moving = false;
  const isOption = (target) => target.matches?.(".it-options input");
  document.addEventListener("keyup", () => (moving = false));
  document.addEventListener("keydown", (event) => {
    moving = event.key.startsWith("Arrow");
    if (event.key === "Enter" && isOption(event.target)) event.target.click();
  });
  document.addEventListener("click", ({ target }) => isOption(target) && !moving && answer(target));

  for (const item of items)
    item.onchange = () => write({ ...read(), [item.name]: item[item.checked ? "value" : "name"] });

  const clear = () => {
    for (const quiz of quizzes) {
      quiz.querySelector(".it-verdict").replaceChildren();
      quiz.querySelector(":scope > details").open = false;
    }
  };
  panel.querySelector("[name=reset]").addEventListener("click", () => {
    if (!confirm("Forget your answers on all pages?")) return;
    clear();
    write({});
  });
  panel.querySelector("[name=export]").addEventListener("click", () => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([JSON.stringify(read())], { type: "application/json" }));
    link.download = KEY + ".json";
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  });
  panel.querySelector("[type=file]").addEventListener("change", async ({ target }) => {
    let found = {};
    try {
      found = parse(await target.files[0].text());
    } catch {}
    target.value = "";
    if (Object.keys(found).length) write({ ...read(), ...found });
    else said.textContent = "no progress in this file";
  });
  addEventListener("storage", show); // another tab answered
  show();
})();
