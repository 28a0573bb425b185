// What is under the pointer, beside the pointer. Without this script, browsers show the same texts as titles.
(() => {
  'use strict';
  const tip = document.createElement('div');
  tip.id = 'tip';
  tip.setAttribute('role', 'status');
  tip.hidden = true;
  document.body.append(tip);

  for (const cell of document.querySelectorAll('.cell')) {
    const title = cell.querySelector('title');
    if (title) {
      cell.dataset.hint = title.textContent;
      title.remove();
    }
  }

  const place = (event) => {
    const gap = 14;
    const right = event.clientX + gap + tip.offsetWidth <= document.documentElement.clientWidth;
    const below = event.clientY + gap + tip.offsetHeight <= window.innerHeight;
    tip.style.left = `${Math.max(0, right ? event.clientX + gap : event.clientX - gap - tip.offsetWidth)}px`;
    tip.style.top = `${Math.max(0, below ? event.clientY + gap : event.clientY - gap - tip.offsetHeight)}px`;
  };
  document.addEventListener('mouseover', (event) => {
    const cell = event.target.closest('.cell');
    tip.hidden = !cell;
    if (cell) {
      tip.textContent = cell.dataset.hint;
      place(event);
    }
  });
  document.addEventListener('mousemove', (event) => {
    if (!tip.hidden) place(event);
  });
  document.addEventListener('scroll', () => { tip.hidden = true; }, { capture: true, passive: true });
  document.documentElement.addEventListener('mouseleave', () => { tip.hidden = true; });

  // Paper cannot be unfolded. Long tables stay as they are.
  let opened = [];
  window.addEventListener('beforeprint', () => {
    opened = [...document.querySelectorAll('details:not([open])')].filter((part) => part.querySelectorAll('tr').length <= 40);
    for (const part of opened) part.open = true;
  });
  window.addEventListener('afterprint', () => {
    for (const part of opened) part.open = false;
  });
  document.documentElement.dataset.script = 'ran';
})();
