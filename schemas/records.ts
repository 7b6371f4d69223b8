import type { Records } from './generated.ts';
import type { TOPICS, TopicName } from './topics.ts';

/** The type of the records that a topic carries. */
export type RecordOf<T extends TopicName> = Records[(typeof TOPICS)[T]['schema']];
