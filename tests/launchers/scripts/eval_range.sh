#!/bin/bash
#: call 2 3
for i in $(eval echo {$1..$2}); do
  export DEVICE_ID=$i
  python eval.py --device $DEVICE_ID &
done
wait
