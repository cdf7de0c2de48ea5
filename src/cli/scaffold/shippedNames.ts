import { domainTemplates } from '../../authoring/domains/domainTemplate.ts';
import { shippedFolder } from '../../engine/shell/files/shippedFolder.ts';

/** Returns the folder of the templates. */
export const templatesFolder = () => shippedFolder('templates');

/** Returns the folder of the sample domains. */
export const samplesFolder = () => shippedFolder('domains');

/** Returns the names of the templates, in order. */
export const templateNames = (): readonly string[] => domainTemplates(templatesFolder()).map(({ name }) => name);

/** Returns the names of the sample domains, in order. */
export const sampleNames = (): readonly string[] => domainTemplates(samplesFolder()).map(({ name }) => name);
