// The parts of emberd's answers that the plugin reads. docs/reference/http.md describes them.

export interface Memory {
  id: string;
  content: string;
  entities?: string[];
  project?: string;
  source?: string;
  core?: boolean;
  origin?: string;
  trust?: string;
  status: string;
  stage: string;
  score: number;
  created_at: string;
  updated_at?: string;
  last_used: string;
  vault_path?: string;
  undecided?: string;
}

export interface Note {
  vault: string;
  path: string;
  title: string;
  line: number;
  modified: string;
  memory_id?: string;
}

/** Snippet is a part of a text; its marks are ranges in bytes of UTF-8. */
export interface Snippet {
  text: string;
  marks?: [number, number][];
}

/** Hit is a memory, whose fields stand beside the others, or a note. */
export interface Hit extends Partial<Memory> {
  tier: 'memory' | 'note';
  note?: Note;
  rank: number;
  relevance: number;
  snippet: Snippet;
  rekindle?: string;
  why?: string;
  superseded?: { by: string; text: string };
}

export interface SearchResult {
  hits: Hit[];
  total: number;
  at_least?: boolean;
  nearest?: boolean;
  away?: string;
}

export interface VaultStatus {
  name: string;
  path: string;
}

export interface Status {
  health: string;
  version: { version: string };
  vaults?: VaultStatus[];
  warnings?: string[];
}

export interface Why {
  memory: Memory;
  parts: { use_count: number; age_days: number; strength: number; score: number };
  stages: { stage: string; at: string }[];
  crossings: { name: string; score: number; below: boolean; at?: string }[];
}

export interface Version {
  at: string;
  action: string;
  verb: string;
  by: { via?: string; client?: string };
  tx: string;
}

export interface ReviewItem {
  id: string;
  agent: string;
  action: string;
  urgency: string;
  evidence?: string;
  texts?: { text: string; note?: string }[]; // others that the memory could have
  created_at: string;
  claimed_by?: string;
}

export interface Review {
  item: ReviewItem;
  memories: Memory[];
  diff?: string[];
  choices: string[];
  merge_refused?: string;
  decided_by?: string;
  decided_at?: string;
}

export interface Recent {
  at: string;
  id?: string;
  path?: string;
  text?: string;
  what: string;
}

/** Change is an answer to a write; tx names what undo reverts. */
export interface Change {
  tx?: string;
}

/** Event is one line of the stream of changes. */
export interface StreamEvent {
  id: string;
  type: string;
  ids?: string[];
  text?: string;
}
