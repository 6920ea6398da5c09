#!/bin/bash
#: call
export RANK_SIZE=3
for i in {0..2}
do
  mkdir -p run$i
  pushd run$i > /dev/null
  RANK_ID=$i DEVICE_ID=$i python ../train.py &
  popd > /dev/null
done
