# Sourced by the scripts beside it: runs stages, and prints at the end how long each took.
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
trap 'printf "\n=== Time of each stage\n%s%-22s %5d s\n" "$times" "all" "$SECONDS"' EXIT
