import class Foundation.ProcessInfo
import RecordClient
import RecordModel
import WireProtocol

/// The content of the database before a measurement.
///
/// The file of the same name in `PostgreSQL` makes the peer's.
enum Dataset: String, CaseIterable {
    case items
    case notes
    case books
    case changes
    case history
    case watched
    case followed
    /// A large file, and small records beside it.
    case largeFile = "large-file"
    case smallFiles = "small-files"
    case sharedZones = "shared-zones"

    /// `TIDEMARK_BENCH_DIVISOR` divides the numbers of records of some rows, to try the program.
    static let divisor =
        ProcessInfo.processInfo.environment["TIDEMARK_BENCH_DIVISOR"].flatMap { Int($0) } ?? 1

    /// Size of every encoded record.
    static let bodyBytes = 500
    /// The maximum for a request.
    private static let recordsPerRequest = 400

    /// Creates the zones and fills them over all clients.
    ///
    /// Each client saves one part after another. Together they fill the group of a commit.
    func load(_ clients: [RecordClient], folder: String) async throws {
        let (zones, recordCount) = self.extent
        try await Self.perform(.modifyZones(ModifyZones(scope: .private, saves: zones)), clients[0])
        let start = try await clients[0].end(
            of: .fetchToken(FetchToken(scope: .private, zone: zones[0])),
            timeout: .seconds(60)
        )
        try await Self.inParts(recordCount, clients) { Self.save($0.map { self.record($0) }) }
        switch self {
        case .items, .notes, .books, .watched, .followed, .sharedZones: break
        case .changes: try await Changes.keepTokens(from: start.token, clients[0])
        case .history: try await History.wear(clients)
        case .largeFile: try await Files.large.load(in: folder, clients)
        case .smallFiles: try await Files.small.load(in: folder, clients)
        }
    }

    /// Performs a request for each part of a count.
    static func inParts(
        _ count: Int,
        _ clients: [RecordClient],
        _ request: @escaping @Sendable (Range<Int>) -> Operation
    ) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (number, client) in clients.enumerated() {
                group.addTask {
                    let step = clients.count * self.recordsPerRequest
                    for first in stride(from: number * self.recordsPerRequest, to: count, by: step) {
                        let part = first..<min(first + self.recordsPerRequest, count)
                        try await self.perform(request(part), client)
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    private var extent: (zones: [ZoneID], recordCount: Int) {
        switch self {
        case .items: (Items.zones, Items.recordCount)
        case .notes: (Notes.allCases.map(\.zone), Notes.allCases.count * Notes.recordCount)
        case .books: ([Books.zone, Books.branch], Books.recordCount + Books.branchCount)
        case .changes: (Changes.zones, Changes.recordCount)
        case .history: (History.allCases.map(\.zone), History.recordCount)
        case .watched: ([Listening.zone], 1)
        case .followed: ([Following.zone], Following.recordCount)
        case .largeFile: ([Files.zone], Files.recordCount)
        case .smallFiles: ([Files.zone], 0)
        case .sharedZones: (SharedZones.zones, SharedZones.recordCount)
        }
    }

    private func record(_ number: Int) -> RecordSave {
        switch self {
        case .items: return Items.record(number)
        case .notes:
            let notes = Notes.allCases[number / Notes.recordCount]
            // A constant seed, but another one for each note.
            var generator = SplitMix64(seed: UInt64(number))
            return notes.record(number % Notes.recordCount, using: &generator)
        case .books: return Books.record(number)
        case .changes: return Changes.record(number)
        case .history: return History.record(number)
        case .watched: return Listening.save
        case .followed: return Following.save(number)
        case .sharedZones: return SharedZones.record(number)
        case .largeFile, .smallFiles: return Items.save(Files.neighbour(number))
        }
    }

    static func save(_ saves: [RecordSave]) -> Operation {
        .modifyRecords(ModifyRecords(scope: .private, saves: saves, policy: .changedKeys))
    }

    static func perform(_ operation: Operation, _ client: RecordClient) async throws {
        for outcome in try await client.perform(operation, timeout: .seconds(60)).values {
            if case .failure(let failure) = outcome { throw failure }
        }
    }

    /// A name of 36 characters.
    ///
    /// Consecutive numbers are far apart.
    static func scatteredName(_ number: Int) -> String {
        let hash = UInt64(number) * 2_654_435_761 & 0xFFFF_FFFF
        return self.name(
            "",
            (Int(hash), radix: 16, digits: 8),
            "-0000-4000-8000-",
            (number, radix: 16, digits: 12)
        )
    }

    /// Texts and zero-padded numbers in 36 characters, written in place: the peer's driver prints
    /// its names as cheaply.
    static func name(
        _ first: StaticString,
        _ number: (Int, radix: Int, digits: Int),
        _ second: StaticString = "",
        _ last: (Int, radix: Int, digits: Int) = (0, radix: 10, digits: 0)
    ) -> String {
        String(unsafeUninitializedCapacity: 36) { bytes in
            var count = 0
            for (text, number) in [(first, number), (second, last)] {
                text.withUTF8Buffer { utf8 in
                    for byte in utf8 {
                        bytes[count] = byte
                        count += 1
                    }
                }
                var rest = number.0
                for index in (count..<count + number.digits).reversed() {
                    let digit = UInt8(rest % number.radix)
                    bytes[index] = digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10
                    rest /= number.radix
                }
                count += number.digits
            }
            return count
        }
    }

    /// The fields, and a `payload` that brings the body to the common size.
    static func body(_ fields: [Field]) -> RecordBody {
        func body(payloadBytes: Int) -> RecordBody {
            let payload = Field(name: "payload", value: .bytes([UInt8](repeating: 0x78, count: payloadBytes)))
            return RecordBody(fields + [payload])
        }
        // With 200 bytes, the lengths are encoded in as many bytes as in the result.
        let body = body(payloadBytes: 200 + self.bodyBytes - body(payloadBytes: 200).bytes.count)
        precondition(body.bytes.count == self.bodyBytes)
        return body
    }
}
