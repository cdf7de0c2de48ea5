/** The worker thread of the language service, so that the extension host never waits for it. */
import { parentPort } from 'node:worker_threads';
import { LanguageService } from '../../language/service/languageService.ts';
import type { ToService } from '../../language/service/messages.ts';

const service = new LanguageService((message) => parentPort?.postMessage(message));
parentPort?.on('message', (message: ToService) => service.receive(message));
