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
    'bash shell runshellcommand execcommand localshell localshellcall writestdin executecommand executebash terminal powershell runterminalcmd runcommands runinterminal exec bashoutput killshell killbash taskoutput taskstop readbash writebash stopbash listbash listbackgroundprocesses readbackgroundoutput',
  ],
  [
    'read',
    'read readfile view viewfile readmanyfiles viewimage listdir ls listdirectory listfiles notebookread open openfile readlints readcell goto scrolldown scrollup',
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
    'todowrite todoread updateplan plan planmoderespond exitplanmode enterplanmode planenter planexit writetodos tasktracker think taskcreate taskupdate tasklist taskget createplan savememory creategoal updategoal getgoal',
  ],
  [
    'agent',
    'agent task newtask spawnagent subagent delegate delegatetoagent usesubagents sendinput waitagent closeagent resumeagent runsubagent invokeagent codebaseinvestigator readagent writeagent listagents',
  ],
  [
    'mcp',
    'usemcptool accessmcpresource mcp callmcptool listmcpresources listmcpresourcestool listmcpresourcetemplates readmcpresource readmcpresourcetool',
  ],
];

const MCP = /^mcp(?:__|:|_)/i;

/**
 * What harnesses call an MCP server's tool that do not say `mcp`: OpenCode `<server>_<tool>` (and so the tools of a person's
 * own file that exports several), Copilot `<server>-<tool>`, and `<server>/<tool>` where it asks for permission.
 */
const OF_SERVER: Readonly<Record<string, RegExp>> = { opencode: /^[^_]+_./, copilot: /^[^-/]+[-/]./ };

/** The common kind of a tool, by its own name; `other` for what is not known. @param harness whose name it is */
export function toolKind(name: string, harness?: string): ToolKind {
  if (MCP.test(name)) return 'mcp';
  const plain = name.toLowerCase().replaceAll(/[_\s-]/g, '');
  if (plain === '') return 'other';
  const known = NAMES.find(([, names]) => ` ${names} `.includes(` ${plain} `))?.[0];
  const isServers =
    harness !== undefined && Object.hasOwn(OF_SERVER, harness) && OF_SERVER[harness]?.test(name);
  return known ?? (isServers ? 'mcp' : 'other');
}
