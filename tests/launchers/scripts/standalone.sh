#!/bin/bash
#: call data
get_real_path() {
  if [ "${1:0:1}" == "/" ]; then
    echo "$1"
  else
    echo "$(realpath -m $PWD/$1)"
  fi
}
if [ $# -lt 1 ]; then exit 1; fi
PATH1=$(get_real_path $1)
export DEVICE_NUM=1
export DEVICE_ID=0
export RANK_ID=0
export RANK_SIZE=1
if [ -d "train" ];
then
    rm -rf ./train
fi
mkdir ./train
cp ../*.py ./train
cd ./train || exit
python train.py --data=$PATH1 &> log &
cd ..
