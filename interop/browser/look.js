// rgb takes a computed colour apart.
const rgb = (colour) => colour.match(/[\d.]+/g).map(Number);

// luminance and contrast are those of WCAG 2.
const luminance = (colour) => {
  const [r, g, b] = rgb(colour).map((v) => v / 255).map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const contrast = (a, b) => {
  const [dark, light] = [luminance(a), luminance(b)].sort((x, y) => x - y);
  return (light + 0.05) / (dark + 0.05);
};

// behind is the colour that an element stands on. The page uses opaque ones only.
const behind = (element) => {
  for (let e = element; e; e = e.parentElement) {
    const colour = getComputedStyle(e).backgroundColor;
    const alpha = rgb(colour)[3] ?? 1;
    if (alpha === 1) return colour;
    if (alpha > 0) throw new Error("a colour that is not opaque");
  }
  return "rgb(255, 255, 255)";
};

// look finds the texts and signs that do not stand out from what is behind them:
// 4.5 to 1 for text, 3 to 1 for the signs of the outcomes.
var look = () => {
  const faint = [];
  let texts = 0;
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    const content = walker.currentNode.textContent.trim();
    if (!content || element.closest("script, style, .skip") || !element.checkVisibility()) continue;
    texts++;
    const ratio = contrast(getComputedStyle(element).color, behind(element));
    if (ratio < 4.5) faint.push(`${ratio.toFixed(2)}: ${content.slice(0, 60)}`);
  }
  for (const icon of document.querySelectorAll(".icon")) {
    const ratio = contrast(getComputedStyle(icon).color, behind(icon));
    if (ratio < 3) faint.push(`${ratio.toFixed(2)}: ${icon.outerHTML}`);
  }
  const style = getComputedStyle(document.documentElement);
  return { Page: style.backgroundColor, Text: style.color, Texts: texts, Faint: faint.slice(0, 10) };
};

// beyond names what reaches over the edge of the window.
var beyond = () => [...document.querySelectorAll("body *")]
  .filter((e) => !e.closest(".symbols, .hidden, .skip") && e.getBoundingClientRect().right > innerWidth + 0.5)
  .map((e) => e.tagName + " " + e.className).slice(0, 10);
