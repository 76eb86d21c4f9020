import NIOCore
import RecordModel

extension NotificationInfo {
    /// Reads the notification texts that a subscription asks for.
    init(_ message: consuming MessageReader) throws(WireError) {
        guard message.range.count <= Bounds.notificationInfoBytesMax else {
            throw WireError(.refused(.limitExceeded), field: "info")
        }
        try self.init(unbounded: message)
    }

    /// Reads the texts of a notification, which is bounded as a whole, values included.
    init(unbounded message: consuming MessageReader) throws(WireError) {
        self.init()
        while let field = try message.next(Proto.NotificationInfo.self) {
            switch field {
            case .alertBody: self.alertBody = try message.text()
            case .alertLocalizationKey: self.alertLocalizationKey = try message.text()
            case .alertLocalizationArgs: self.alertLocalizationArgs.append(try message.text())
            case .title: self.title = try message.text()
            case .titleLocalizationKey: self.titleLocalizationKey = try message.text()
            case .titleLocalizationArgs: self.titleLocalizationArgs.append(try message.text())
            case .subtitle: self.subtitle = try message.text()
            case .subtitleLocalizationKey: self.subtitleLocalizationKey = try message.text()
            case .subtitleLocalizationArgs: self.subtitleLocalizationArgs.append(try message.text())
            case .alertActionLocalizationKey: self.alertActionLocalizationKey = try message.text()
            case .alertLaunchImage: self.alertLaunchImage = try message.text()
            case .soundName: self.soundName = try message.text()
            case .desiredKeys: self.desiredKeys.append(try message.text())
            case .shouldBadge: self.shouldBadge = try message.bool()
            case .shouldSendContentAvailable: self.shouldSendContentAvailable = try message.bool()
            case .shouldSendMutableContent: self.shouldSendMutableContent = try message.bool()
            case .category: self.category = try message.text()
            case .collapseIDKey: self.collapseIDKey = try message.text()
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
        buffer.writeField(Proto.NotificationInfo.alertBody, self.alertBody)
        buffer.writeField(Proto.NotificationInfo.alertLocalizationKey, self.alertLocalizationKey)
        for arg in self.alertLocalizationArgs {
            buffer.writeElement(Proto.NotificationInfo.alertLocalizationArgs, arg)
        }
        buffer.writeField(Proto.NotificationInfo.title, self.title)
        buffer.writeField(Proto.NotificationInfo.titleLocalizationKey, self.titleLocalizationKey)
        for arg in self.titleLocalizationArgs {
            buffer.writeElement(Proto.NotificationInfo.titleLocalizationArgs, arg)
        }
        buffer.writeField(Proto.NotificationInfo.subtitle, self.subtitle)
        buffer.writeField(Proto.NotificationInfo.subtitleLocalizationKey, self.subtitleLocalizationKey)
        for arg in self.subtitleLocalizationArgs {
            buffer.writeElement(Proto.NotificationInfo.subtitleLocalizationArgs, arg)
        }
        buffer.writeField(Proto.NotificationInfo.alertActionLocalizationKey, self.alertActionLocalizationKey)
        buffer.writeField(Proto.NotificationInfo.alertLaunchImage, self.alertLaunchImage)
        buffer.writeField(Proto.NotificationInfo.soundName, self.soundName)
        for key in self.desiredKeys { buffer.writeElement(Proto.NotificationInfo.desiredKeys, key) }
        buffer.writeField(Proto.NotificationInfo.shouldBadge, self.shouldBadge)
        buffer.writeField(Proto.NotificationInfo.shouldSendContentAvailable, self.shouldSendContentAvailable)
        buffer.writeField(Proto.NotificationInfo.shouldSendMutableContent, self.shouldSendMutableContent)
        buffer.writeField(Proto.NotificationInfo.category, self.category)
        buffer.writeField(Proto.NotificationInfo.collapseIDKey, self.collapseIDKey)
    }
}
