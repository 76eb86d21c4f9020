import NIOCore
import RecordModel

extension Asset {
    /// Reads the assets of a request; the server checks their sizes.
    init(_ message: consuming MessageReader) throws(WireError) {
        self.init(sha256: [], size: 0)
        while let field = try message.next(Proto.Asset.self) {
            switch field {
            case .sha256: self.sha256 = try message.hash()
            case .size: self.size = try message.place("size")
            }
        }
        guard !self.sha256.isEmpty else { throw WireError(.refused(.invalidArguments), field: "sha256") }
    }

    func encode(into buffer: inout ByteBuffer) {
        buffer.writeField(Proto.Asset.sha256, self.sha256)
        buffer.writeField(Proto.Asset.size, self.size)
    }
}

extension AssetRange {
    init(_ message: consuming MessageReader) throws(WireError) {
        self.init(sha256: [])
        while let field = try message.next(Proto.AssetRange.self) {
            switch field {
            case .sha256: self.sha256 = try message.hash()
            case .offset: self.offset = try message.place("offset")
            case .length:
                let length = try message.place("length")
                self.length = length == 0 ? nil : length
            }
        }
        guard !self.sha256.isEmpty else { throw WireError(.refused(.invalidArguments), field: "sha256") }
    }

    func encode(into buffer: inout ByteBuffer) {
        buffer.writeField(Proto.AssetRange.sha256, self.sha256)
        buffer.writeField(Proto.AssetRange.offset, self.offset)
        buffer.writeField(Proto.AssetRange.length, self.length ?? 0)
    }
}

extension MessageReader {
    fileprivate mutating func hash() throws(WireError) -> [UInt8] {
        let hash = try self.bytes()
        guard hash.count == Asset.hashBytes else {
            throw WireError(.refused(.invalidArguments), field: "sha256")
        }
        return hash
    }

    /// A number of bytes; a file has at most 2⁶³−1.
    fileprivate mutating func place(_ field: StaticString) throws(WireError) -> Int64 {
        guard let place = Int64(exactly: try self.varint()) else {
            throw WireError(.refused(.invalidArguments), field: field)
        }
        return place
    }
}

extension UploadAssets {
    init(_ message: consuming MessageReader) throws(WireError) {
        self.init(scope: .private, assets: [])
        var scope: UInt32 = 0
        while let field = try message.next(Proto.UploadAssets.self) {
            switch field {
            case .scope: scope = try message.uint32()
            case .assets: self.assets.append(try Asset(message.message()))
            case .zone: self.zone = try ZoneID(message.message())
            }
        }
        let hashes = Set(self.assets.map(\.sha256))
        guard !hashes.isEmpty, hashes.count == self.assets.count else {
            throw WireError(.refused(.invalidArguments), field: "assets")
        }
        self.scope = try DatabaseScope(number: scope)
    }

    func encode(into buffer: inout ByteBuffer) {
        buffer.writeField(Proto.UploadAssets.scope, self.scope.number)
        for asset in self.assets {
            buffer.writeMessage(Proto.UploadAssets.assets) { asset.encode(into: &$0) }
        }
        if let zone { buffer.writeMessage(Proto.UploadAssets.zone) { zone.encode(into: &$0) } }
    }
}

extension DownloadAssets {
    init(_ message: consuming MessageReader) throws(WireError) {
        self.init(scope: .private, record: .unnamed, ranges: [])
        var scope: UInt32 = 0
        while let field = try message.next(Proto.DownloadAssets.self) {
            switch field {
            case .scope: scope = try message.uint32()
            case .ranges: self.ranges.append(try AssetRange(message.message()))
            case .record: try self.record.merge(message.message())
            }
        }
        guard !self.ranges.isEmpty else { throw WireError(.refused(.invalidArguments), field: "ranges") }
        self.scope = try DatabaseScope(number: scope)
    }

    func encode(into buffer: inout ByteBuffer) {
        buffer.writeField(Proto.DownloadAssets.scope, self.scope.number)
        for range in self.ranges {
            buffer.writeMessage(Proto.DownloadAssets.ranges) { range.encode(into: &$0) }
        }
        buffer.writeMessage(Proto.DownloadAssets.record) { self.record.encode(into: &$0) }
    }
}
