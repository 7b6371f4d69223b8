/** What a tool does, whatever its harness calls it. */
export type ToolKind =
  | 'shell'
  | 'read'
  | 'edit'
  | 'write'
  | 'search'
  | 'fetch'
  | 'plan'
  | 'agent'
  | 'mcp'
  | 'other';

/** Names in lower case without `_` and `-`, of all harnesses together: none uses another's name for something else. */
const NAMES: readonly [ToolKind, string][] = [
  [
    'shell',
    'bash shell runshellcommand execcommand localshell localshellcall writestdin executecommand executebash terminal powershell runterminalcmd runcommands runinterminal exec bashoutput killshell killbash taskoutput taskstop',
  ],
  [
    'read',
    'read readfile view viewfile readmanyfiles viewimage listdir ls listdirectory listfiles notebookread open openfile readlints readcell goto scrolldown scrollup readmcpresource',
  ],
  [
    'edit',
    'edit multiedit applypatch replace strreplace strreplaceeditor strreplacebasededittool fileeditor notebookedit patch editfile editfiles replaceinfile insert searchreplace',
  ],
  ['write', 'write writefile create createfile writetofile delete deletefile newfile'],
  [
    'search',
    'grep glob search searchfiles searchdir searchfile findfile find listcodedefinitionnames codebasesearch searchfilecontent greprsearch grepsearch filesearch semsearch lsp toolsearch codesearch ripgrep',
  ],
  [
    'fetch',
    'webfetch websearch websearchcall googlewebsearch browser browseraction fetch browse browseinteractive fetchwebpage',
  ],
  [
    'plan',
    'todowrite todoread updateplan plan planmoderespond exitplanmode enterplanmode writetodos tasktracker think taskcreate taskupdate tasklist taskget createplan savememory',
  ],
  [
    'agent',
    'agent task newtask spawnagent subagent delegate delegatetoagent usesubagents sendinput waitagent closeagent resumeagent runsubagent',
  ],
  ['mcp', 'usemcptool accessmcpresource mcp callmcptool listmcpresources readmcpresourcetool'],
];

const MCP = /^mcp(?:__|:|_)/i;

/** The common kind of a tool, by its own name; `other` for what is not known. */
export function toolKind(name: string): ToolKind {
  if (MCP.test(name)) return 'mcp';
  const plain = name.toLowerCase().replaceAll(/[_\s-]/g, '');
  if (plain === '') return 'other';
  return NAMES.find(([, names]) => ` ${names} `.includes(` ${plain} `))?.[0] ?? 'other';
}
