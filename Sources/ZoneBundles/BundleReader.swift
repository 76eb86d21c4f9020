import FileIO
import NIOCore
package import RecordModel
import SystemCrypto
import WireProtocol

/// Reads a bundle from a file, part by part.
///
/// No part may be trusted before `end`: then every byte agrees with the hash. A second reading of
/// the same file may skip assets, and compare the hash of a part with that of the first.
package struct BundleReader {
    /// A part of a bundle, in file order.
    package enum Part: Sendable {
        case description(BundleDescription)
        case schema(String)
        /// With the SHA-256 of the entry.
        case records([Record], sha256: [UInt8])
        /// An asset, and the offset of its bytes in the file.
        case asset(Asset, offset: Int64)
        case end(BundleTotals)
    }

    private enum Phase {
        case start
        case described
        /// Number of entries with records.
        case records(Int)
        case assets
        case ended
    }

    private static let pieceBytes = 1 << 20

    /// Reads up to a number of bytes at an offset; fewer only at the end of the file.
    private let read: (Int, Int64) throws -> [UInt8]
    /// Whether the hash of the file is computed, and assets are read.
    private let isVerifying: Bool
    private var phase = Phase.start
    private var offset: Int64 = 0
    private var hash = SHA256()
    private var totals = BundleTotals()
    /// The modification time in the first header, which all others must have.
    private var modified: Int64?
    private var spelling: TarEntry.Spelling?
    private var lastAsset: [UInt8] = []

    package init(isVerifying: Bool, read: @escaping (Int, Int64) throws -> [UInt8]) {
        self.isVerifying = isVerifying
        self.read = read
    }

    /// Number of bytes read or skipped.
    package var bytesTaken: Int64 { self.offset }

    /// Reads the next part; `nil` after the end.
    ///
    /// - Throws: `BundleError`, and any error of `read`.
    package mutating func next() throws -> Part? {
        if case .ended = self.phase { return nil }
        let before = (hash: self.hash, offset: self.offset)
        let header = try self.header()
        switch self.phase {
        case .start:
            guard header.path == BundleEntry.description else { throw BundleError.notABundle }
            let bytes = try self.contents(header, max: BundleEntry.descriptionBytesMax)
            self.phase = .described
            return .description(try Self.description(bytes))
        case .described:
            guard header.path == BundleEntry.schema else { throw BundleError.entryUnexpected(header.path) }
            let bytes = try self.contents(header, max: Int64(Bounds.schemaBytesMax))
            guard let text = String(validating: bytes, as: UTF8.self) else {
                throw BundleError.schemaMalformed("it is not text.")
            }
            self.phase = .records(0)
            return .schema(text)
        case .records(let count) where header.path == BundleEntry.records(count + 1):
            let bytes = try self.contents(header, max: BundleEntry.recordsBytesMax)
            self.phase = .records(count + 1)
            let records = try Self.records(bytes, entry: header.path)
            self.totals.records += Int64(records.count)
            self.totals.shares += Int64(records.count { $0.recordType == ShareRecord.type })
            return .records(records, sha256: SHA256.hash(bytes))
        case .records, .assets:
            if header.path == BundleEntry.totals {
                let bytes = try self.contents(header, max: BundleEntry.totalsBytesMax)
                return .end(try self.end(bytes, before.hash, before.offset))
            }
            self.phase = .assets
            return try self.asset(header)
        case .ended: return nil
        }
    }

    // MARK: Entries

    private static func description(_ bytes: [UInt8]) throws(BundleError) -> BundleDescription {
        // A newer format may have other members.
        if let format = CanonicalJSON.format(in: bytes), !BundleDescription.formatsKnown.contains(format) {
            throw .formatUnknown(format)
        }
        guard let description = CanonicalJSON.value(BundleDescription.self, in: bytes),
            description.isSound
        else { throw .notABundle }
        return description
    }

    private static func records(_ bytes: [UInt8], entry: String) throws(BundleError) -> [Record] {
        var records: [Record] = []
        var buffer = ByteBuffer(bytes: bytes)
        let decoder = FrameDecoder(payloadBytesMax: Int(BundleEntry.recordsBytesMax))
        do {
            while let frame = try decoder.decode(buffer: &buffer) {
                guard frame.kind == .items, frame.flags == 0, frame.stream == 0 else {
                    throw BundleError.recordMalformed(entry: entry)
                }
                for (index, item) in try Items(decoding: frame.payload).items.enumerated() {
                    guard item.index == index, case .record(let message) = item.outcome else {
                        throw BundleError.recordMalformed(entry: entry)
                    }
                    records.append(try message.record())
                }
            }
        } catch {
            throw .recordMalformed(entry: entry)
        }
        guard buffer.readableBytes == 0, !records.isEmpty else { throw .recordMalformed(entry: entry) }
        return records
    }

    private mutating func asset(_ header: TarEntry) throws -> Part {
        let digits = header.path.dropFirst(BundleEntry.assetPrefix.count)
        guard header.path.hasPrefix(BundleEntry.assetPrefix), let sha256 = Self.hash(digits) else {
            throw BundleError.entryUnexpected(header.path)
        }
        let start = self.offset
        let asset = Asset(sha256: sha256, size: header.bytes)
        self.totals.assets += 1
        self.totals.assetBytes += header.bytes
        if self.isVerifying {
            var hash = SHA256()
            var left = header.bytes
            while left > 0 {
                let piece = try self.take(Int(min(left, Int64(Self.pieceBytes))))
                hash.add(piece)
                left -= Int64(piece.count)
            }
            guard hash.value == sha256 else { throw BundleError.assetDiffers(String(digits)) }
        } else {
            self.offset += header.bytes
        }
        try self.takeZeros(header.paddingBytes)
        return .asset(asset, offset: start)
    }

    private static func hash(_ digits: Substring) -> [UInt8]? {
        let utf8 = Array(digits.utf8)
        guard utf8.count == 2 * Asset.hashBytes else { return nil }
        let bytes = stride(from: 0, to: utf8.count, by: 2).compactMap { index in
            UInt8(String(decoding: utf8[index..<index + 2], as: UTF8.self), radix: 16)
        }
        return bytes.count == Asset.hashBytes && bytes.hexadecimal == digits ? bytes : nil
    }

    /// Compares the last entry with the totals so far, and checks that no bytes follow.
    private mutating func end(
        _ bytes: [UInt8],
        _ hash: SHA256,
        _ offset: Int64
    ) throws -> BundleTotals {
        guard let totals = CanonicalJSON.value(BundleTotals.self, in: bytes) else {
            throw BundleError.malformed(at: self.offset)
        }
        self.totals.bytes = offset
        self.totals.sha256 = self.isVerifying ? hash.value.hexadecimal : totals.sha256
        guard totals == self.totals else { throw BundleError.differs }
        try self.takeZeros(2 * TarEntry.blockBytes)
        guard try self.read(1, self.offset).isEmpty else { throw BundleError.malformed(at: self.offset) }
        self.phase = .ended
        return totals
    }

    // MARK: Bytes

    private mutating func header() throws -> TarEntry {
        let start = self.offset
        let block = try self.take(TarEntry.blockBytes)
        let header = try TarEntry.read(block, spelling: self.spelling) { try self.take(TarEntry.blockBytes) }
        guard let header else {
            throw start == 0 ? BundleError.notABundle : BundleError.malformed(at: start)
        }
        guard self.modified ?? header.entry.modified == header.entry.modified else {
            throw BundleError.malformed(at: start)
        }
        self.modified = header.entry.modified
        self.spelling = header.spelling
        return header.entry
    }

    private mutating func contents(_ header: TarEntry, max: Int64) throws -> [UInt8] {
        guard header.bytes <= max else {
            throw BundleError.entryTooLarge(header.path, bytes: header.bytes)
        }
        let bytes = try self.take(Int(header.bytes))
        try self.takeZeros(header.paddingBytes)
        return bytes
    }

    private mutating func takeZeros(_ count: Int) throws {
        let start = self.offset
        guard try self.take(count).allSatisfy({ $0 == 0 }) else { throw BundleError.malformed(at: start) }
    }

    private mutating func take(_ count: Int) throws -> [UInt8] {
        guard count > 0 else { return [] }
        let bytes = try self.read(count, self.offset)
        guard bytes.count == count else { throw BundleError.cut(at: self.offset + Int64(bytes.count)) }
        self.offset += Int64(count)
        if self.isVerifying { self.hash.add(bytes) }
        return bytes
    }
}
