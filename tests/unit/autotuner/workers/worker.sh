#!/bin/sh
# Part of Eider, under the Apache License v2.0.
#
# A worker for tests, of EIDER_TEST_TARGET (else host), whose candidate 1 does what EIDER_TEST_DEFECT says; candidate 0
# takes 10 us and candidate 2, if there is one, 9. Where 1 is the last, as in a verification, it takes EIDER_TEST_VERIFIED.
echo '{"event":"ready","target":"'"${EIDER_TEST_TARGET:-host}"'"}'
while read -r request; do
  echo '{"event":"start","id":0}'
  echo '{"event":"measured","id":0,"us":10}'
  case $request in
  *'"id":1,'*)
    echo '{"event":"start","id":1}'
    case $EIDER_TEST_DEFECT in
    hang) exec sleep 600 ;; # one process, which the watchdog ends
    segv) echo 'illegal address' >&2; kill -SEGV $$ ;;
    trap) kill -TRAP $$ ;;
    fault) echo '{"event":"fault","id":1,"why":"CUDA_ERROR_ILLEGAL_ADDRESS"}'; exit 70 ;;
    nonsense) echo 'not JSON' ;;
    esac
    ;;
  esac
  case $request in
  *'"id":2,'*) ;;
  *'"id":1,'*)
    echo '{"event":"measured","id":1,"us":'"$EIDER_TEST_VERIFIED"'}'
    echo '{"event":"result","bytes":4096,"memcpy":8,"runs":[{"id":0,"us":10,"spread":0.01},{"id":1,"us":'"$EIDER_TEST_VERIFIED"',"spread":0.01}]}'
    continue
    ;;
  *)
    echo '{"event":"result","bytes":4096,"memcpy":8,"runs":[{"id":0,"us":10,"spread":0.01}]}'
    continue
    ;;
  esac
  echo '{"event":"start","id":2}'
  echo '{"event":"measured","id":2,"us":9}'
  echo '{"event":"result","bytes":4096,"memcpy":8,"runs":[{"id":0,"us":10,"spread":0.01},{"id":2,"us":9,"spread":0.01}]}'
done
