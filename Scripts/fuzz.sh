#!/bin/sh
# Fuzzes the parsers with libFuzzer, guided by coverage, and prints for each target what it has done.
#
#   RUNS=<n>          inputs for each target; 0 for no limit
#   TIME=<seconds>    how long each target may take; 0 for no limit
#   TARGETS="<name> …"
#
# Builds into .build/fuzz; keeps there what it has learnt, and an input that breaks something. Only on Linux: Xcode's
# toolchain has no libFuzzer.
set -eu
cd "$(dirname "$0")/.."
SWIFT=${SWIFT:-swift}
RUNS=${RUNS:-0}
TIME=${TIME:-2}
TARGETS=${TARGETS:-versions records file-names scripts literals pages}
scratch=.build/fuzz

mkdir -p $scratch
$SWIFT build -c release --target FuzzTargets >$scratch/build.log 2>&1 || {
    cat $scratch/build.log
    exit 1
}
products=$($SWIFT build -c release --show-bin-path)

# The package's own modules once more, watched: libFuzzer looks at the counters of everything that is watched after
# each input, and GRDB has most of them.
compile() {
    ${SWIFT}c -O -wmo -parse-as-library -sanitize=fuzzer,address -swift-version 6 -package-name appmigrations \
        -enable-upcoming-feature ExistentialAny -enable-upcoming-feature InternalImportsByDefault \
        -enable-upcoming-feature MemberImportVisibility -I $scratch -I "$products/Modules" \
        -Xcc -fmodule-map-file=.build/checkouts/GRDB.swift/Sources/GRDBSQLite/module.modulemap \
        -Xcc -fmodule-map-file="$products/CMigrationSQLite.build/module.modulemap" \
        -Xcc -fmodule-map-file="$products/CMigrationSystem.build/module.modulemap" "$@"
}
for module in Sources/MigrationDiagnostics Sources/AppMigrations Sources/MigrationEmbedding \
    Sources/SchemaMigrations Sources/DatabaseFiles Tests/FuzzTargets; do
    name=$(basename $module)
    # What the build embeds of the module's resources.
    resources=$(find "$products/$name.build" -name embedded_resources.swift)
    # shellcheck disable=SC2046,SC2086
    compile -emit-object -emit-module -emit-module-path $scratch/"$name".swiftmodule -module-name "$name" \
        -o $scratch/"$name".o $(find $module -name '*.swift' | sort) $resources
done
rm -f $scratch/fuzz
compile Tests/Fuzz/LibFuzzer.swift $scratch/*.o "$products"/GRDB.build/*.o "$products"/CMigration*.build/*.o \
    -lsqlite3 -o $scratch/fuzz 2>&1 | grep -v 'Cannot export local symbol' || [ $? = 1 ]
[ -x $scratch/fuzz ]

status=0
printf '%-12s %12s %10s %8s\n' target executions per-second crashes
for target in $TARGETS; do
    corpus=$scratch/corpus/$target
    found=$scratch/found/$target
    mkdir -p "$corpus" "$found"
    # Migrations to begin with: the samples, and real ones, where somebody has put some beside the package.
    case $target in scripts | literals)
        for set in Tests/SampleMigrations ../shared/real-migrations; do
            [ ! -d "$set" ] || find "$set" -name '*.sql' -size -4k -exec cp {} "$corpus" \;
        done
        ;;
    esac
    crashes=0
    FUZZ_SEEDS=$corpus FUZZ_TARGET=$target $scratch/fuzz "$corpus" -runs=$([ "$RUNS" = 0 ] && echo -1 || echo "$RUNS") \
        -max_total_time="$TIME" -artifact_prefix="$found/" -print_final_stats=1 -max_len=512 -timeout=10 \
        -rss_limit_mb=4096 -detect_leaks=0 -verbosity=0 >"$scratch/$target.log" 2>&1 || crashes=1
    awk -v target="$target" -v crashes=$crashes '
        /stat::number_of_executed_units/ { runs = $2 }
        /stat::average_exec_per_sec/ { speed = $2 }
        END { printf "%-12s %12d %10d %8d\n", target, runs, speed, crashes }' "$scratch/$target.log"
    [ $crashes = 0 ] || {
        grep -E 'Fatal error|ERROR:|SUMMARY|Test unit' "$scratch/$target.log" | head -5
        status=1
    }
done
exit $status
