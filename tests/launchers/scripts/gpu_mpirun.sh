#!/bin/bash
#: call data
if [ $# -lt 1 ]; then
  echo "usage"
  exit 1
fi
get_real_path() {
  if [ "${1:0:1}" == "/" ]; then
    echo "$1"
  else
    echo "$(realpath -m $PWD/$1)"
  fi
}
PATH1=$(get_real_path $1)
if [ ! -d $PATH1 ]
then
    exit 1
fi
ulimit -u unlimited
export DEVICE_NUM=8
export RANK_SIZE=8
rm -rf ./train_parallel
mkdir ./train_parallel
cp ../*.py ./train_parallel
cp -r ../src ./train_parallel
cd ./train_parallel || exit
if [ $# == 1 ]
then
    mpirun --allow-run-as-root -n $RANK_SIZE --output-filename log_output --merge-stderr-to-stdout \
           python train.py --device_num=$DEVICE_NUM --data=$PATH1 &> log.txt &
fi
if [ $# == 2 ]
then
    mpirun --allow-run-as-root -n $RANK_SIZE python train.py --ckpt=$2 &> log.txt &
fi
