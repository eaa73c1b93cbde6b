import type { Actions } from './actions';
import type { Related } from './related';
import { age, isUnconfirmed, pieces, titleOf, visible } from './texts';
import type { Hit, Snippet } from './types';

/** renderSnippet writes a text with its matched words marked. */
export function renderSnippet(into: HTMLElement, snippet: Snippet): void {
  for (const piece of pieces(snippet)) {
    if (piece.marked) into.createEl('mark', { text: visible(piece.text) });
    else into.appendText(visible(piece.text));
  }
}

/** metaOf returns the age, project and origin of a result. */
export function metaOf(hit: Hit): string {
  if (hit.note) return ['note', age(hit.note.modified)].join(' · ');
  return ['memory', age(hit.created_at ?? ''), hit.project, hit.origin && `from ${hit.origin}`].filter(Boolean).join(' · ');
}

/** warningsOf returns what a reader should know before trusting a result. */
export function warningsOf(hit: Hit): string[] {
  const warnings: string[] = [];
  if (isUnconfirmed(hit)) warnings.push('unconfirmed');
  if (hit.superseded) warnings.push('superseded');
  if (hit.status === 'archived') warnings.push('archived');
  if (hit.undecided) warnings.push('undecided');
  return warnings;
}

/** renderResult fills an element with the title, the text and the origin of a result. */
export function renderResult(into: HTMLElement, hit: Hit, reasons: string[] = []): void {
  if (hit.note) into.createDiv({ cls: 'emberd-title', text: visible(titleOf(hit)) });
  renderSnippet(into.createDiv({ cls: 'emberd-text' }), hit.snippet);
  const meta = into.createDiv({ cls: 'emberd-meta', text: visible(metaOf(hit)) });
  for (const warning of warningsOf(hit)) meta.createSpan({ cls: 'emberd-warning', text: warning });
  if (reasons.length) into.createDiv({ cls: 'emberd-why', text: visible(reasons.join(' · ')) });
}

/** renderCard adds a result to a list. Click opens it, Enter or dragging inserts a link, right-click shows a menu. */
export function renderCard(list: HTMLElement, related: Related, actions: Actions): HTMLElement {
  const { hit } = related;
  const card = list.createDiv({ cls: 'emberd-card', attr: { role: 'listitem', tabindex: '0', draggable: 'true' } });
  renderResult(card, hit, related.reasons);
  card.addEventListener('click', () => void actions.open(hit));
  card.addEventListener('contextmenu', (event) => {
    event.preventDefault();
    actions.menu(hit, event);
  });
  card.addEventListener('dragstart', (event) => event.dataTransfer?.setData('text/plain', actions.dragText(hit)));
  card.addEventListener('keydown', (event) => pressed(event, hit, actions));
  return card;
}

function pressed(event: KeyboardEvent, hit: Hit, actions: Actions): void {
  if (event.key === 'Enter') actions.insertLink(hit);
  else if (event.key === ' ') void actions.open(hit);
  else return;
  event.preventDefault();
}
