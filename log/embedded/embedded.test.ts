import { logConforms } from '../conformance.ts';
import { embeddedRig } from './testing.ts';

logConforms('the embedded engine', embeddedRig);
