import AppMigrations

/// A story of a fleet while it is played.
struct FleetStory {
    /// What has happened, in sentences.
    private(set) var lines: [String] = []

    private let fleet: SimulatedFleet
    private let releases: [FleetRelease]
    private var devices: [Int: FleetDevice] = [:]
    private var server: FleetEdits = [:]
    private var clock = 0

    init(_ fleet: SimulatedFleet, _ releases: [FleetRelease]) {
        self.fleet = fleet
        self.releases = releases
    }

    /// Plays events, brings all devices to the last release, and judges what they have.
    ///
    /// - Returns: what is wrong; nil if nothing is.
    mutating func play(_ events: [FleetEvent]) throws -> String? {
        for event in events {
            clock += 1
            if let problem = try play(event) { return problem }
        }
        return try end()
    }

    private mutating func play(_ event: FleetEvent) throws -> String? {
        switch event {
        case .launch(let number, let version): return try launch(number, version)
        case .kill(let number, let version, let moment): return try launch(number, version, killedAt: moment)
        case .write(let number, let seed):
            if let line = try devices[number]?.write(at: clock, seed: seed) { lines.append(line) }
            return nil
        case .exchange(let number):
            guard let device = devices[number], device.isRunning else { return nil }
            lines.append("\(device.name) exchanges rows.")
            return try exchange(device)
        }
    }

    private mutating func launch(_ number: Int, _ version: AppVersion, killedAt moment: Int? = nil) throws
        -> String?
    {
        guard let release = releases.first(where: { $0.version == version }) else { return nil }
        let device = try devices[number] ?? FleetDevice(number, of: fleet)
        devices[number] = device
        do {
            lines.append(try device.launch(release, killedAt: moment))
        } catch {
            return "\(device.name) cannot be launched as \(version): \(error)"
        }
        // The engine starts after the migration, with what was kept aside for this release.
        return try device.store()
    }

    private mutating func exchange(_ device: FleetDevice) throws -> String? {
        server.take(device.known)
        device.known.take(server)
        return try device.store()
    }

    /// Lets all devices come to the last release and to the same edits, and launches them once more.
    private mutating func end() throws -> String? {
        guard let last = releases.last else { return nil }
        let all = devices.values.sorted { $0.number < $1.number }
        let before = lines
        for _ in 0..<2 {
            for device in all {
                if let problem = try launch(device.number, last.version) { return problem }
            }
            for device in all + all {
                if let problem = try exchange(device) { return problem }
            }
        }
        for device in all {
            if let problem = try launch(device.number, last.version) { return problem }
        }
        lines =
            before + ["All devices launch \(last.version), exchange all rows, and launch it once more."]
        return try FleetJudgement(last, all, server, fleet.forms).problem(fleet.check)
    }
}
