#!/bin/bash
#: call
export A=1 B="two words" C='$x'
unset A
LIST="a b  c"
export RANK_SIZE=2
for i in 0 1; do
  RANK_ID=$i python train.py $LIST "$LIST" '' "" \$x "$C" --q="it's" &
done
