# Sourced by the scripts beside it: runs stages, prints at the end how long each took, and installs the browser.
times=""

# Usage: stage NAME COMMAND...
stage() {
  local name=$1 started=$SECONDS status=0
  shift
  echo "=== $name"
  "$@" || status=$?
  times+=$(printf '%-22s %5d s%s' "$name" $((SECONDS - started)) "$([ $status = 0 ] || echo '  failed')")$'\n'
  return $status
}

# Tests of the live page fail without a browser
install_browser() {
  if ! command -v chromium chromium-browser google-chrome >/dev/null && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends chromium fonts-dejavu-core >/dev/null
  fi
}
trap 'printf "\n=== Time of each stage\n%s%-22s %5d s\n" "$times" "all" "$SECONDS"' EXIT
