import type { Repository } from './repository.ts';
import { type Git, GitError, runGit } from './run.ts';

/** The commit that HEAD names, or null (no commit yet, or refs this git cannot read). No object is opened. */
export async function headOf(git: Git, repo: Repository): Promise<string | null> {
  try {
    const args = ['rev-parse', '--quiet', '--verify', 'HEAD'];
    const out = await runGit(git, args, { gitDir: repo.gitDir, codes: [0, 1] });
    return out.toString('latin1').trim() || null;
  } catch (error) {
    if (error instanceof GitError && error.fault === 'failed') return null;
    throw error;
  }
}
