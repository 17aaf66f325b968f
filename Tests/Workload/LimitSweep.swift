import Foundation
import TestSupport

/// Launches where there is too little room: on disks that are full, or read-only, and with a limit on files.
struct LimitSweep: Sweep {
    static let name = "limit"

    enum Case: CustomStringConvertible {
        /// No file may be larger than this.
        case file(bytes: Int)
        /// The disk has this much room left.
        case disk(bytes: Int)
        case readOnlyDisk

        var description: String {
            switch self {
            case .file(let bytes): "file:\(bytes)"
            case .disk(let bytes): "disk:\(bytes)"
            case .readOnlyDisk: "readonly"
            }
        }
    }

    let laboratory: Laboratory

    init(_ laboratory: Laboratory) { self.laboratory = laboratory }

    /// Every case there is.
    var cases: [Case] {
        let sizes =
            Array(stride(from: 0, to: 4_096, by: 256)) + Array(stride(from: 4_096, to: 131_072, by: 4_096))
        let disks = SmallDisk.isAllowed ? stride(from: 0, to: 262_144, by: 4_096).map(Case.disk) : []
        return sizes.map(Case.file) + disks + (disks.isEmpty ? [] : [.readOnlyDisk])
    }

    var notes: [String] {
        SmallDisk.isAllowed ? [] : ["full and read-only disks were not tried: only root may mount a disk"]
    }

    /// Tries a case.
    ///
    /// - Returns: what was wrong.
    func complaints(_ limit: Case) throws -> [String] {
        switch limit {
        case .file(let bytes):
            try laboratory.reset()
            let launch = laboratory.undisturbed
            return try laboratory.complaints(
                afterTrouble: Child.run {
                    signal(SIGXFSZ, SIG_IGN)
                    var limit = rlimit(rlim_cur: rlim_t(bytes), rlim_max: rlim_t.max)
                    setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
                    launch.run()
                })
        case .disk(let bytes):
            return try onDisk { disk in
                try disk.leave(bytes)
            }
        case .readOnlyDisk:
            return try onDisk { disk in try disk.mount(size: "16m", readOnly: true) }
        }
    }

    private func onDisk(_ spoil: (SmallDisk) throws -> Void) throws -> [String] {
        let disk = try SmallDisk(at: laboratory.folder)
        defer { disk.remove() }
        try laboratory.fill()
        try spoil(disk)
        let end = try laboratory.launch()
        try disk.mount(size: "16m")
        return try laboratory.complaints(afterTrouble: end)
    }
}
