import ArgumentParser

/// The amount and kind of load.
struct LoadOptions: ParsableArguments {
    @Option(parsing: .unconditional, help: "Connections, distributed over the users.")
    var connections = 16

    @Option(parsing: .unconditional, help: "Zones of each user.")
    var zones = 4

    @Option(
        parsing: .unconditional,
        help: "Records of this process, divided among its connections."
    )
    var records = 10_000

    @Option(parsing: .unconditional, help: "Bytes of a record's payload.")
    var recordBytes = 400

    @Option(parsing: .unconditional, help: "Bytes of a file.")
    var assetBytes = 65_536

    @Option(parsing: .unconditional, help: "Records of a batch.")
    var batch = 100

    @Option(parsing: .unconditional, help: "Records of a page of changes.")
    var page = 200

    @Option(help: "Distribution of the requested records: uniform, zipfian or latest.")
    var distribution = KeyDistribution.Shape.uniform

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Requests per second of all connections together, whether or not the server keeps up.",
            discussion:
                "Without it, each connection sends its next request when it has the response to the last.",
            valueName: "number"
        )
    )
    var rate: Double?

    @Option(help: "With --rate: poisson (independent users) or uniform.")
    var arrivals = Arrivals.Pattern.poisson

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Requests in flight on a connection: 1, with --rate 64. Further ones wait, and their wait counts.",
            valueName: "number"
        )
    )
    var outstanding: Int?

    @Flag(help: "With --rate: send rejected requests again at the time that the server names.")
    var retry = false

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Length of the measurement in seconds.", valueName: "seconds")
    )
    var duration = 10.0

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Length of the warm-up in seconds.", valueName: "seconds")
    )
    var warmUp = 2.0

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Seconds after which a request fails.", valueName: "seconds")
    )
    var timeout = 30.0

    @Option(
        parsing: .unconditional,
        help:
            "Seed of keys, arrivals and contents. It repeats the requests, but not their exact times."
    )
    var seed: UInt64 = 1

    mutating func validate() throws {
        try Self.check(self.connections, 1...10_000, "--connections")
        try Self.check(self.zones, 1...1_000, "--zones")
        try Self.check(self.recordBytes, Contents.headerBytes...900_000, "--record-bytes")
        try Self.check(self.assetBytes, 1...16_777_216, "--asset-bytes")
        try Self.check(self.batch, 1...400, "--batch")
        try Self.check(self.page, 1...1_000, "--page")
        try Self.check(self.outstandingMax, 1...128, "--outstanding")
        guard self.recordBytes * self.batch <= 1_900_000 else {
            throw ValidationError("A request has at most 2 MiB: use a smaller --batch or --record-bytes.")
        }
        try Self.check(self.duration, 0.1...1_000_000, "--duration")
        try Self.check(self.warmUp, 0...1_000_000, "--warm-up")
        try Self.check(self.timeout, 1...3_600, "--timeout")
        if let rate { try Self.check(rate, 0.1...10_000_000, "--rate") }
        let least = 2 * Layout.keysPerBucket * self.zones
        guard !self.retry || self.rate != nil else {
            throw ValidationError(
                "--retry needs a --rate: without one, each connection waits for its responses."
            )
        }
        guard self.records <= 50_000_000, self.records / self.connections >= least else {
            throw ValidationError(
                "Each connection needs \(least) records, 40 per zone: use --records \(least * self.connections) or more."
            )
        }
    }

    var outstandingMax: Int { self.outstanding ?? (self.rate == nil ? 1 : 64) }

    static func check<Value: Comparable>(
        _ value: Value,
        _ range: ClosedRange<Value>,
        _ option: String
    ) throws {
        guard range.contains(value) else {
            throw ValidationError("\(option) takes a number from \(range.lowerBound) to \(range.upperBound).")
        }
    }
}

extension KeyDistribution.Shape: ExpressibleByArgument {}
extension Arrivals.Pattern: ExpressibleByArgument {}
