import NIOCore
import RecordModel

extension NotificationInfo {
    /// Reads what a subscription wants its notifications to say.
    init(_ message: consuming MessageReader) throws(WireError) {
        guard message.count <= Bounds.notificationInfoBytesMax else {
            throw WireError(.refused(.limitExceeded), field: "info")
        }
        try self.init(unbounded: message)
    }

    /// Reads what a notification says, whose own bound holds for values, too.
    init(unbounded message: consuming MessageReader) throws(WireError) {
        self.init()
        while let tag = try message.tag() {
            switch tag {
            case 0x0A: self.alertBody = try message.text()
            case 0x12: self.alertLocalizationKey = try message.text()
            case 0x1A: self.alertLocalizationArgs.append(try message.text())
            case 0x22: self.title = try message.text()
            case 0x2A: self.titleLocalizationKey = try message.text()
            case 0x32: self.titleLocalizationArgs.append(try message.text())
            case 0x3A: self.subtitle = try message.text()
            case 0x42: self.subtitleLocalizationKey = try message.text()
            case 0x4A: self.subtitleLocalizationArgs.append(try message.text())
            case 0x52: self.alertActionLocalizationKey = try message.text()
            case 0x5A: self.alertLaunchImage = try message.text()
            case 0x62: self.soundName = try message.text()
            case 0x6A: self.desiredKeys.append(try message.text())
            case 0x70: self.shouldBadge = try message.varint() != 0
            case 0x78: self.shouldSendContentAvailable = try message.varint() != 0
            case 0x80: self.shouldSendMutableContent = try message.varint() != 0
            case 0x8A: self.category = try message.text()
            case 0x92: self.collapseIDKey = try message.text()
            default: try message.skip(tag)
            }
        }
        let args = [self.alertLocalizationArgs, self.titleLocalizationArgs, self.subtitleLocalizationArgs]
        guard args.allSatisfy({ $0.count <= Bounds.localizationArgsMax }) else {
            throw WireError(.refused(.limitExceeded), field: "localization_args")
        }
        guard self.desiredKeys.count <= Bounds.notificationKeysMax else {
            throw WireError(.refused(.limitExceeded), field: "desired_keys")
        }
    }

    func encode(into buffer: inout ByteBuffer) {
        buffer.writeField(1, self.alertBody)
        buffer.writeField(2, self.alertLocalizationKey)
        for arg in self.alertLocalizationArgs { buffer.writeElement(3, arg) }
        buffer.writeField(4, self.title)
        buffer.writeField(5, self.titleLocalizationKey)
        for arg in self.titleLocalizationArgs { buffer.writeElement(6, arg) }
        buffer.writeField(7, self.subtitle)
        buffer.writeField(8, self.subtitleLocalizationKey)
        for arg in self.subtitleLocalizationArgs { buffer.writeElement(9, arg) }
        buffer.writeField(10, self.alertActionLocalizationKey)
        buffer.writeField(11, self.alertLaunchImage)
        buffer.writeField(12, self.soundName)
        for key in self.desiredKeys { buffer.writeElement(13, key) }
        buffer.writeField(14, self.shouldBadge)
        buffer.writeField(15, self.shouldSendContentAvailable)
        buffer.writeField(16, self.shouldSendMutableContent)
        buffer.writeField(17, self.category)
        buffer.writeField(18, self.collapseIDKey)
    }
}
