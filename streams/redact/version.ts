/** Scanner and version, as redactions and quarantine name it. Changes with the rules or with secretlint's. */
export const SCANNER = 'flipstream-2+secretlint-12.0.0';
