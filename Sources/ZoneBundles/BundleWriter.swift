import FileIO
import NIOCore
package import RecordModel
import SystemCrypto
import WireProtocol

/// Names and bounds of the entries of a bundle.
enum BundleEntry {
    static let description = "bundle.json"
    static let schema = "schema.ckdb"
    static let totals = "totals.json"
    static let assetPrefix = "assets/"

    static func records(_ number: Int) -> String {
        let digits = String(number)
        return "records/" + String(repeating: "0", count: max(0, 8 - digits.count)) + digits
    }

    /// A description may have the maximum number of zones of a database.
    static let descriptionBytesMax: Int64 = 16 << 20
    static let totalsBytesMax: Int64 = 4_096
    /// A part is written at 4 MiB, and ends with the record that reaches this size.
    static let recordsBytesMax: Int64 = 64 << 20
}

/// Writes a bundle to a stream, from the first byte to the last.
///
/// The order of calls is that of the entries: description, schema, records, assets, totals.
package struct BundleWriter: Sendable {
    private static let partBytes = 4 << 20
    private static let frameBytes = 256 << 10

    private let output: @Sendable ([UInt8]) throws -> Void
    private let modified: Int64
    private var hash = SHA256()
    private var part = ByteBuffer()
    private var parts = 0
    /// The payload of the frame that is being filled.
    private var frame = ByteBuffer()
    private var frameItems: UInt32 = 0
    private var asset: Asset?
    private var assetBytesLeft: Int64 = 0
    private var assetHash = SHA256()
    package private(set) var totals = BundleTotals()

    /// Begins a bundle.
    ///
    /// - Throws: Any error of `output`, as all functions do.
    package init(
        _ description: BundleDescription,
        schema: String,
        output: @escaping @Sendable ([UInt8]) throws -> Void
    ) throws {
        self.output = output
        self.modified = max(0, description.exportedMilliseconds / 1_000)
        try self.write(BundleEntry.description, CanonicalJSON.bytes(of: description))
        try self.write(BundleEntry.schema, Array(schema.utf8))
    }

    // MARK: Records

    package mutating func add(_ record: Record) throws {
        let item = Item(index: self.frameItems, outcome: .record(RecordMessage(record)))
        item.append(toItems: &self.frame)
        self.frameItems += 1
        self.totals.records += 1
        if record.recordType == ShareRecord.type { self.totals.shares += 1 }
        if self.frame.readableBytes >= Self.frameBytes { self.endFrame() }
        if self.part.readableBytes >= Self.partBytes { try self.endPart() }
    }

    private mutating func endFrame() {
        guard self.frameItems > 0 else { return }
        FrameEncoder.write(Frame(kind: .items, payload: self.frame), into: &self.part)
        self.frame.clear()
        self.frameItems = 0
    }

    private mutating func endPart() throws {
        self.endFrame()
        guard self.part.readableBytes > 0 else { return }
        self.parts += 1
        try self.write(BundleEntry.records(self.parts), Array(self.part.readableBytesView))
        self.part.clear()
    }

    // MARK: Assets

    /// Begins the entry of an asset; `addBytes` adds its bytes.
    ///
    /// - Throws: `assetDiffers` with the last byte, if the bytes have another hash.
    package mutating func begin(_ asset: Asset) throws {
        precondition(self.assetBytesLeft == 0)
        try self.endPart()
        try self.write(self.entry(of: asset).header)
        self.asset = asset
        self.assetBytesLeft = asset.size
        self.assetHash = SHA256()
        self.totals.assets += 1
        self.totals.assetBytes += asset.size
        try self.endAssetIfComplete()
    }

    package mutating func addBytes(_ bytes: [UInt8]) throws {
        precondition(Int64(bytes.count) <= self.assetBytesLeft)
        self.assetHash.add(bytes)
        try self.write(bytes)
        self.assetBytesLeft -= Int64(bytes.count)
        try self.endAssetIfComplete()
    }

    private func entry(of asset: Asset) -> TarEntry {
        self.entry(BundleEntry.assetPrefix + asset.hexadecimal, bytes: asset.size)
    }

    private mutating func endAssetIfComplete() throws {
        guard let asset, self.assetBytesLeft == 0 else { return }
        guard self.assetHash.value == asset.sha256 else {
            throw BundleError.assetDiffers(asset.hexadecimal)
        }
        try self.write([UInt8](repeating: 0, count: self.entry(of: asset).paddingBytes))
        self.asset = nil
    }

    // MARK: The end

    /// Ends the bundle, and returns its totals.
    package mutating func finish() throws -> BundleTotals {
        precondition(self.assetBytesLeft == 0)
        try self.endPart()
        self.totals.sha256 = self.hash.value.hexadecimal
        try self.write(BundleEntry.totals, CanonicalJSON.bytes(of: self.totals))
        try self.write([UInt8](repeating: 0, count: 2 * TarEntry.blockBytes))
        return self.totals
    }

    private mutating func write(_ name: String, _ contents: [UInt8]) throws {
        let entry = self.entry(name, bytes: Int64(contents.count))
        try self.write(entry.header)
        try self.write(contents)
        try self.write([UInt8](repeating: 0, count: entry.paddingBytes))
    }

    private func entry(_ name: String, bytes: Int64) -> TarEntry {
        TarEntry(path: name, bytes: bytes, modified: self.modified)
    }

    private mutating func write(_ bytes: [UInt8]) throws {
        guard !bytes.isEmpty else { return }
        self.hash.add(bytes)
        if self.totals.sha256.isEmpty { self.totals.bytes += Int64(bytes.count) }
        try self.output(bytes)
    }
}

extension Asset {
    /// The hash, which is the name of the entry.
    var hexadecimal: String { self.sha256.hexadecimal }
}

extension [UInt8] {
    var hexadecimal: String {
        let digits = Array("0123456789abcdef".utf8)
        let text = self.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
        return String(decoding: text, as: UTF8.self)
    }
}
